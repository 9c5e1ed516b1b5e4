// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/echo.h"

#include <string.h>

#define WAIT_S 20

static void server_call_back(struct conn *conn, struct echo_server *server)
{
	struct buf call = {0};

	echo_call(&call, TEST_PROGRAM_REVERSE, 0x80000000u | (uint32_t)server->reverse_sent++,
		  server->reverse_bytes, server->reverse_bytes);
	conn_send_record(conn, call.data, call.len);
	buf_free(&call);
}

static bool reverse_check(const struct echo_server *server, const struct message *reply)
{
	if (!server->reverse_fails)
		return echo_check(reply, server->reverse_bytes);
	return reply->accepted && reply->accept_stat == ACCEPT_SYSTEM_ERR;
}

static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct echo_server *server = conn->arg;
	struct message message;
	struct buf reply = {0};

	if (!message_parse(&message, data, len))
		fail("the server got what is no RPC message");
	if (message.type == MSG_REPLY) {
		if (!reverse_check(server, &message))
			fail("the server got a bad Reply to %08x", message.xid);
		server->reverse_answered++;
		return;
	}
	server->calls++;
	if (server->reverse_bytes)
		server_call_back(conn, server);
	if (message.program == TEST_PROGRAM)
		echo_reply(&reply, &message);
	else
		reply_begin(&reply, message.xid, ACCEPT_SUCCESS);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void server_ended(struct conn *conn)
{
	struct echo_server *server = conn->arg;

	server->ended++;
	conn_shut(conn);
}

static void server_accepted(struct conn *conn)
{
	conn->received = server_received;
	conn->ended = server_ended;
	((struct echo_server *)conn->arg)->accepted++;
}

void echo_server_listen(struct net *net, uint16_t port, struct echo_server *server)
{
	net_listen(net, port, server_accepted, server);
}

static void client_send(struct echo_client *client)
{
	while (client->sent < client->calls && client->sent - client->replied < client->window) {
		struct buf call = {0};

		echo_call(&call, client->program ? client->program : TEST_PROGRAM,
			  client->xid_base + client->sent, client->args_len, client->reply_len);
		conn_send_record(client->conn, call.data, call.len);
		buf_free(&call);
		client->sent++;
	}
}

static void client_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct echo_client *client = conn->arg;
	struct message message;
	struct buf reply = {0};

	if (!message_parse(&message, data, len)) {
		client->failed = true;
	} else if (message.type == MSG_CALL) {
		client->reverse_received++;
		echo_reply(&reply, &message);
		conn_send_record(conn, reply.data, reply.len);
		buf_free(&reply);
	} else if (message.xid - client->xid_base >= client->sent ||
		   !echo_check(&message, client->reply_len)) {
		client->failed = true;
	} else {
		client->replied++;
		client_send(client);
	}
}

void echo_client_start(struct net *net, struct echo_client *client, uint16_t port)
{
	if (!client->window)
		client->window = 1;
	client->conn = net_connect(net, port, client->from_addr, client->from_port);
	client->conn->received = client_received;
	client->conn->arg = client;
	client_send(client);
}

bool echo_client_done(const struct echo_client *client)
{
	return client->failed || client->conn->closed || client->replied == client->calls;
}

bool echo_client_good(const struct echo_client *client)
{
	return !client->failed && !client->conn->closed && client->replied == client->calls;
}

static bool is_done(void *arg)
{
	return echo_client_done(arg);
}

void echo_client_ask(struct net *net, struct echo_client *client, const char *when)
{
	client->calls++;
	client_send(client);
	if (!net_run_until(net, is_done, client, WAIT_S))
		fail("%s: no Reply comes", when);
	if (!echo_client_good(client))
		fail("%s: %s", when, client->failed ? "a bad Reply" : "the connection is closed");
}
