// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/replay_client.h"

#include <poll.h>
#include <string.h>

#define RDMA_HEADER_BYTES 28

static void take_reply(struct replay_client *client, const uint8_t *data, size_t len)
{
	client->reply.len = 0;
	buf_put(&client->reply, data, len);
	client->replies++;
}

static void tcp_received(struct conn *conn, const uint8_t *data, size_t len)
{
	take_reply(conn->arg, data, len);
}

static void rdma_received(struct mpa *mpa)
{
	if (mpa->send.len < RDMA_HEADER_BYTES)
		fail("a Send of %zu bytes came", mpa->send.len);
	take_reply(mpa->arg, mpa->send.data + RDMA_HEADER_BYTES, mpa->send.len - RDMA_HEADER_BYTES);
}

static void drop_left(struct replay_client *client, bool reset)
{
	if (client->left.conn)
		mpa_free(&client->left, reset);
	memset(&client->left, 0, sizeof(client->left));
}

bool replay_client_connect(struct replay_client *client, uint16_t port)
{
	struct conn *conn;

	if (client->left.conn && client->left.conn->local_port == client->port)
		drop_left(client, false);
	conn = net_try_connect(client->net, port, client->addr, client->port);
	if (!conn)
		return false;
	client->replies = 0;
	if (client->rdma) {
		mpa_start(&client->mpa, conn);
		client->mpa.received = rdma_received;
		client->mpa.arg = client;
	} else {
		client->mpa = (struct mpa){.conn = conn};
		conn->received = tcp_received;
		conn->arg = client;
	}
	return true;
}

bool replay_client_is_up(const struct replay_client *client)
{
	return !client->rdma || client->mpa.started;
}

void replay_client_send(struct replay_client *client, const struct buf *call)
{
	if (client->rdma)
		mpa_send_call(&client->mpa, call);
	else
		conn_send_record(client->mpa.conn, call->data, call->len);
}

void replay_client_deafen(struct replay_client *client)
{
	client->mpa.conn->paused = true;
}

static bool has_event(const struct replay_client *client, short events)
{
	struct pollfd fd = {.fd = client->mpa.conn->fd, .events = events};

	return poll(&fd, 1, 0) > 0 && fd.revents;
}

bool replay_client_has_unread(const struct replay_client *client)
{
	return has_event(client, POLLIN);
}

bool replay_client_is_lost(const struct replay_client *client)
{
	return client->mpa.conn->closed || has_event(client, POLLRDHUP);
}

void replay_client_leave(struct replay_client *client, bool fin)
{
	if (fin) {
		conn_shut(client->mpa.conn);
		client->mpa.conn->paused = true;
		drop_left(client, true);
		client->left = client->mpa;
	} else {
		mpa_free(&client->mpa, true);
	}
	memset(&client->mpa, 0, sizeof(client->mpa));
}

void replay_client_free(struct replay_client *client)
{
	if (client->mpa.conn)
		mpa_free(&client->mpa, true);
	drop_left(client, true);
	buf_free(&client->reply);
	buf_free(&client->call);
}
