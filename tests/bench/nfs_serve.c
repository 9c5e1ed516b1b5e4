// SPDX-License-Identifier: BSD-3-Clause
/*
 * An NFSv3 server with one file in memory: NULL, GETATTR, READ, WRITE and COMMIT, as fast as one
 * thread can serve them.
 *
 * Data of READs come from file_data.h; data of WRITEs must equal it. SIGTERM ends the server: it
 * prints one line of JSON with its counts, and exits with 1 if a written byte was wrong.
 *
 * usage: nfs_serve [-a ADDR] [-x EVERY] PORT
 *
 * With -x one byte in every EVERY READs is wrong, to test that the client detects it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tests/bench/file_data.h"
#include "tests/bench/nfs3.h"
#include "tests/bench/record_reader.h"
#include "tests/bench/send_queue.h"
#include "tests/bench/sockets.h"

#define EVENTS     256
#define READ_BYTES FILE_DATA_CHUNK
#define COUNT_MAX  (16u << 20) /* of a READ */
#define PIECES_MAX 4096        /* that wait; then nothing is read until some are gone */
#define PRIVILEGED 1024

struct server {
	int poll, listener, signals;
	struct buf null, getattr, read, write, commit; /* Replies */
	unsigned long spoil_every, reads;
	unsigned long connections, unprivileged, calls, mismatches;
	uint64_t bytes_in, bytes_out;
	uint8_t input[READ_BYTES];
	LIST_HEAD(, client) clients;
};

struct client {
	LIST_ENTRY(client) link;
	struct server *server;
	int fd;
	uint32_t watched;
	struct record_reader reader;
	struct send_queue out;
	/* The Call that is coming. */
	uint32_t xid, procedure;
	uint32_t count;   /* bytes of a READ or WRITE */
	uint32_t written; /* bytes that have come of a WRITE */
	uint64_t offset;
	uint32_t status;
};

static uint64_t get_u64(const struct message *call, size_t at)
{
	return (uint64_t)message_u32(call, at) << 32 | message_u32(call, at + 4);
}

/* Bytes that a WRITE has behind its head: data, and at last a pad. */
static void client_more(void *arg, const uint8_t *data, size_t len)
{
	struct client *client = arg;
	size_t left = client->count - client->written, n = len < left ? len : left;

	if (client->procedure != NFS3_WRITE)
		return;
	if (client->status == NFS3_OK && !file_data_is(client->offset + client->written, data, n)) {
		client->status = NFS3ERR_IO;
		client->server->mismatches++;
	}
	client->written += (uint32_t)n;
}

static void arguments(struct client *client, const struct message *call)
{
	size_t at = 4 + ((message_u32(call, 0) + 3) & ~3u);

	client->offset = get_u64(call, at);
	client->count = message_u32(call, at + 8);
	if (client->procedure == NFS3_READ && client->count > COUNT_MAX)
		client->status = NFS3ERR_INVAL;
	if (client->procedure != NFS3_WRITE)
		return;
	if (message_u32(call, at + 16) != client->count)
		client->status = NFS3ERR_INVAL;
	at += 20;
	client_more(client, call->body + at, call->body_len - at);
}

static void client_begin(void *arg, const uint8_t *head, size_t head_len, size_t len)
{
	struct client *client = arg;
	struct message call;

	if (!message_parse(&call, head, head_len) || call.type != MSG_CALL ||
	    call.program != NFS_PROGRAM)
		fail("a message of %zu bytes came that is no Call of NFS", len);
	client->xid = call.xid;
	client->procedure = call.procedure;
	client->status = NFS3_OK;
	client->count = client->written = 0;
	if (call.procedure == NFS3_READ || call.procedure == NFS3_WRITE)
		arguments(client, &call);
}

static void reply_read(struct client *client)
{
	struct server *server = client->server;
	uint8_t *end = send_queue_put(&client->out, &server->read, client->xid, client->offset,
				      client->count);

	nfs3_set_count(end, NFS3_READ, client->count);
	server->bytes_out += client->count;
	if (server->spoil_every && client->count && ++server->reads % server->spoil_every == 0)
		send_queue_spoil(&client->out);
}

static void reply_write(struct client *client)
{
	struct server *server = client->server;

	nfs3_set_count(send_queue_put(&client->out, &server->write, client->xid, 0, 0), NFS3_WRITE,
		       client->count);
	server->bytes_in += client->count;
}

static void reply_failure(struct client *client)
{
	struct buf reply = {0};

	nfs3_reply(&reply, client->procedure, client->status, 0);
	send_queue_put(&client->out, &reply, client->xid, 0, 0);
	buf_free(&reply);
}

static void client_end(void *arg)
{
	struct client *client = arg;
	struct server *server = client->server;

	server->calls++;
	if (client->procedure == NFS3_WRITE && client->written < client->count)
		client->status = NFS3ERR_INVAL;
	if (client->status != NFS3_OK)
		reply_failure(client);
	else if (client->procedure == NFS3_READ)
		reply_read(client);
	else if (client->procedure == NFS3_WRITE)
		reply_write(client);
	else if (client->procedure == NFS3_GETATTR)
		send_queue_put(&client->out, &server->getattr, client->xid, 0, 0);
	else if (client->procedure == NFS3_COMMIT)
		send_queue_put(&client->out, &server->commit, client->xid, 0, 0);
	else if (client->procedure == NFS3_NULL)
		send_queue_put(&client->out, &server->null, client->xid, 0, 0);
	else
		fail("the procedure %u is not served", client->procedure);
}

static const struct record_ops client_ops = {client_begin, client_more, client_end};

static void client_free(struct client *client)
{
	LIST_REMOVE(client, link);
	close(client->fd);
	send_queue_fini(&client->out);
	free(client);
}

static void client_new(struct server *server, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		fail("out of memory");
	client->server = server;
	client->fd = fd;
	client->reader.head_bytes = RECORD_HEAD_MAX;
	client->watched = EPOLLIN;
	LIST_INSERT_HEAD(&server->clients, client, link);
	poll_watch(server->poll, fd, EPOLLIN, client);
}

/* False: the connection is over. */
static bool client_read(struct client *client)
{
	struct server *server = client->server;
	ssize_t n = recv(client->fd, server->input, sizeof(server->input), 0);

	if (n < 0)
		return errno == EAGAIN;
	return n > 0 &&
	       !record_reader_feed(&client->reader, &client_ops, client, server->input, (size_t)n);
}

static void client_serve(struct client *client, uint32_t events)
{
	uint32_t wanted = EPOLLIN;
	int left;

	if ((events & ~(uint32_t)EPOLLOUT) && !client_read(client)) {
		client_free(client);
		return;
	}
	left = send_queue_flush(&client->out, client->fd);
	if (left < 0) {
		client_free(client);
		return;
	}
	if (left)
		wanted = send_queue_pieces(&client->out) < PIECES_MAX ? EPOLLIN | EPOLLOUT
								      : EPOLLOUT;
	if (wanted != client->watched)
		poll_change(client->server->poll, client->fd, wanted, client);
	client->watched = wanted;
}

static void server_accept(struct server *server)
{
	struct address peer;
	int fd;

	while ((fd = socket_accept(server->listener, &peer)) >= 0) {
		server->connections++;
		server->unprivileged += address_port(&peer) >= PRIVILEGED;
		client_new(server, fd);
	}
}

static int server_end(struct server *server)
{
	while (!LIST_EMPTY(&server->clients))
		client_free(LIST_FIRST(&server->clients));
	printf("{\"connections\": %lu, \"unprivileged\": %lu, \"calls\": %lu, \"bytes_in\": %llu, "
	       "\"bytes_out\": %llu, \"mismatches\": %lu}\n",
	       server->connections, server->unprivileged, server->calls,
	       (unsigned long long)server->bytes_in, (unsigned long long)server->bytes_out,
	       server->mismatches);
	return server->mismatches != 0;
}

static int server_run(struct server *server)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(server->poll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == &server->signals)
				return server_end(server);
			if (events[i].data.ptr == &server->listener)
				server_accept(server);
			else
				client_serve(events[i].data.ptr, events[i].events);
		}
	}
}

static int ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void server_init(struct server *server, const char *host, const char *port)
{
	struct address address = address_parse(host, port);

	file_data_init();
	files_unlimited();
	nfs3_reply(&server->null, NFS3_NULL, NFS3_OK, 0);
	nfs3_reply(&server->getattr, NFS3_GETATTR, NFS3_OK, 0);
	nfs3_reply(&server->read, NFS3_READ, NFS3_OK, 0);
	nfs3_reply(&server->write, NFS3_WRITE, NFS3_OK, 0);
	nfs3_reply(&server->commit, NFS3_COMMIT, NFS3_OK, 0);
	server->poll = poll_new();
	server->signals = ending_signals();
	server->listener = socket_listen(&address);
	poll_watch(server->poll, server->signals, EPOLLIN, &server->signals);
	poll_watch(server->poll, server->listener, EPOLLIN, &server->listener);
}

int main(int argc, char **argv)
{
	static struct server server;
	const char *host = "127.0.0.1";
	int option;

	while ((option = getopt(argc, argv, "a:x:")) != -1) {
		if (option == 'a')
			host = optarg;
		else if (option == 'x')
			server.spoil_every = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind != argc - 1)
		fail("usage: nfs_serve [-a ADDR] [-x EVERY] PORT");
	server_init(&server, host, argv[optind]);
	puts("ready");
	fflush(stdout);
	return server_run(&server);
}
