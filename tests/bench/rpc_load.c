// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client and a server of record-marked RPC with a proxy between them. The client keeps a fixed
 * number of Calls in flight, the server answers each from memory, and both check that they receive
 * what the other sent.
 *
 * usage: rpc_load FRONT BACK WORK COUNT WINDOW [TURNS]
 *
 * With TURNS it makes COUNT Calls that many times on one connection. After each turn it prints a
 * line and waits for one, so that counters can be read in between.
 */
#include "tests/bench/work.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define STALL_S 60 /* longest wait for a Reply, also under valgrind */

struct load {
	struct work work;
	struct conn *conn;
	uint8_t *answered;      /* by XID */
	uint32_t count, window; /* of Calls: in total, and in flight */
	uint32_t turn_end;      /* the last Call of this turn */
	uint32_t sent, replied;
	uint32_t replied_before; /* at the last look */
};

static void send_with_xid(struct conn *conn, struct buf *message, uint32_t xid)
{
	uint32_t be = htonl(xid);

	memcpy(message->data, &be, sizeof(be));
	conn_send_record(conn, message->data, message->len);
}

/* Whether @data is @message under any XID. */
static bool is_message(const struct buf *message, const uint8_t *data, size_t len)
{
	return message->len && len == message->len && !memcmp(data + 4, message->data + 4, len - 4);
}

static uint32_t xid_of(const uint8_t *data)
{
	uint32_t be;

	memcpy(&be, data, sizeof(be));
	return ntohl(be);
}

static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct load *load = conn->arg;
	struct work *work = &load->work;

	if (is_message(&work->call, data, len))
		send_with_xid(conn, &work->reply, xid_of(data));
	else if (is_message(&work->opening_call, data, len))
		send_with_xid(conn, &work->opening_reply, xid_of(data));
	else
		fail("the server got %zu bytes that the client did not send", len);
}

static void server_accepted(struct conn *conn)
{
	conn->received = server_received;
}

/* The opening Call has the XID 0, the others those from 1. */
static void client_send(struct load *load)
{
	while (load->sent < load->turn_end && load->sent - load->replied < load->window)
		send_with_xid(load->conn, &load->work.call, ++load->sent);
}

static void client_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct load *load = conn->arg;
	uint32_t xid;

	if (len < 4)
		fail("a Reply of %zu bytes came", len);
	xid = xid_of(data);
	if (xid > load->sent || load->answered[xid])
		fail("a Reply came to %u, which is not in flight", xid);
	if (!is_message(xid ? &load->work.reply : &load->work.opening_reply, data, len))
		fail("the Reply to %u is not what the server sent", xid);
	load->answered[xid] = 1;
	if (xid)
		load->replied++;
	client_send(load);
}

static void client_ended(struct conn *conn)
{
	struct load *load = conn->arg;

	fail("the connection was closed after %u Replies", load->replied);
}

static bool is_done(void *arg)
{
	struct load *load = arg;

	return load->replied == load->turn_end;
}

static void load_start(struct load *load, struct net *net, uint16_t front)
{
	load->conn = net_connect(net, front, 0, 0);
	load->conn->received = client_received;
	load->conn->ended = client_ended;
	load->conn->arg = load;
	if (load->work.opening_call.len)
		send_with_xid(load->conn, &load->work.opening_call, 0);
	else
		client_send(load);
}

static void run_turn(struct load *load, struct net *net)
{
	while (!net_run_until(net, is_done, load, STALL_S)) {
		if (load->replied == load->replied_before)
			fail("no Reply for %u s, after %u", STALL_S, load->replied);
		load->replied_before = load->replied;
	}
}

static void wait_for_line(uint32_t turn)
{
	char line[16];

	printf("turn %u\n", turn);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		fail("nobody says that it goes on after turn %u", turn);
}

static void load_run(struct load *load, uint16_t front, uint16_t back, uint32_t turns)
{
	uint32_t a_turn = load->count / (turns ? turns : 1);
	struct net net;

	net_init(&net);
	net_listen(&net, back, server_accepted, load);
	load->turn_end = a_turn;
	load_start(load, &net, front);
	for (uint32_t turn = 1;; turn++) {
		run_turn(load, &net);
		if (turns)
			wait_for_line(turn);
		if (turn >= turns)
			break;
		load->turn_end += a_turn;
		client_send(load);
	}
	net_free(&net);
}

static int usage(void)
{
	fputs("usage: rpc_load FRONT BACK WORK COUNT WINDOW [TURNS]\n"
	      "FRONT and BACK are ports of 127.0.0.1: of the proxy, and of its server\n"
	      "works: ",
	      stderr);
	work_names_print(stderr);
	fputc('\n', stderr);
	return 2;
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct load load = {0};
	uint32_t turns = argc > 6 ? number(argv[6]) : 0;

	if (argc < 6 || argc > 7 || !work_init(&load.work, argv[3]))
		return usage();
	load.count = number(argv[4]) * (turns ? turns : 1);
	load.window = number(argv[5]);
	load.answered = calloc((size_t)load.count + 1, 1);
	if (!load.window || !load.answered)
		fail("%u RPCs, %u at once: that is no load", load.count, load.window);
	load_run(&load, (uint16_t)number(argv[1]), (uint16_t)number(argv[2]), turns);
	free(load.answered);
	work_fini(&load.work);
	return 0;
}
