// SPDX-License-Identifier: BSD-3-Clause
/*
 * An NFSv4.1 client, because libnfs has none: writes a file of BYTES bytes into /export in pieces,
 * and reads it back.
 *
 *	nfs41_client ADDRESS PORT NAME BYTES PIECE
 *
 * Prints how many COMPOUNDs that took. XIDs, sequence numbers and offsets in Replies must be those
 * of a conforming server; any other value ends the program.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM_WORDS     (2u << 18)
#define LAST           0x80000000u
#define SESSION_WORDS  4u
#define STATEID_WORDS  4u
#define SEQUENCE_WORDS 11u /* of its results */
/* Of operations without results of their own: the number and the status. */
#define PLAIN_WORDS 2u

enum {
	OP_CLOSE = 4,
	OP_COMMIT = 5,
	OP_GETATTR = 9,
	OP_LOOKUP = 15,
	OP_OPEN = 18,
	OP_PUTROOTFH = 24,
	OP_READ = 25,
	OP_WRITE = 38,
	OP_EXCHANGE_ID = 42,
	OP_CREATE_SESSION = 43,
	OP_DESTROY_SESSION = 44,
	OP_SEQUENCE = 53,
	OP_DESTROY_CLIENTID = 57,
	OP_RECLAIM_COMPLETE = 58,
};

static int fd;
static uint32_t words[ROOM_WORDS], *at; /* the Call that is made, or the Reply that came */
static uint32_t xid, sequence, client[2], session[SESSION_WORDS], stateid[STATEID_WORDS];

static void die(const char *what)
{
	fprintf(stderr, "nfs41_client: %s\n", what);
	exit(1);
}

static void put(uint32_t value)
{
	*at++ = htonl(value);
}

static void put_words(const uint32_t *from, unsigned count)
{
	memcpy(at, from, count * sizeof(*from));
	at += count;
}

static void put_opaque(const void *data, uint32_t len)
{
	put(len);
	at[len / 4] = 0;
	memcpy(at, data, len);
	at += (len + 3) / 4;
}

static void put_hyper(uint64_t value)
{
	put((uint32_t)(value >> 32));
	put((uint32_t)value);
}

/* Begins a COMPOUND of @nops operations after space for the record mark, with AUTH_SYS of root. */
static void begin(unsigned nops)
{
	static const uint32_t head[] = {0, 2, 100003, 4, 1, 1, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1};

	at = words + 1;
	put(++xid);
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++)
		put(head[i]);
	put(nops);
}

static void begin_in_session(unsigned nops)
{
	begin(nops + 1);
	put(OP_SEQUENCE);
	put_words(session, SESSION_WORDS);
	put(++sequence);
	put(0);
	put(0);
	put(0);
}

static void receive(void *to, size_t len)
{
	if (recv(fd, to, len, MSG_WAITALL) != (ssize_t)len)
		die("the connection ended");
}

/* Sends the Call and takes its Reply, whose first operation @at points to then. */
static void call(void)
{
	size_t len = (size_t)(at - words) * 4;
	uint32_t mark;

	words[0] = htonl(LAST | (uint32_t)(len - 4));
	if (send(fd, words, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("the Call cannot be sent");
	receive(&mark, 4);
	len = ntohl(mark) & ~LAST;
	if (!(ntohl(mark) & LAST) || len < 36 || len > sizeof(words))
		die("the Reply is no record of one fragment");
	receive(words, len);
	if (ntohl(words[0]) != xid || words[2] || words[5])
		die("the Reply is no good one");
	if (words[6]) {
		fprintf(stderr, "nfs41_client: status %u\n", ntohl(words[6]));
		exit(1);
	}
	at = words + 9;
}

/* ---- the session ---- */

static void exchange_id(void)
{
	begin(1);
	put(OP_EXCHANGE_ID);
	put(1);
	put((uint32_t)getpid());
	put_opaque("nfs41_client", 12);
	put(0);
	put(0);
	put(0);
	call();
	memcpy(client, at + PLAIN_WORDS, sizeof(client));
}

static void put_channel(void)
{
	static const uint32_t attributes[] = {0, 1 << 20, 1 << 20, 4096, 16, 1, 0};

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		put(attributes[i]);
}

static void create_session(void)
{
	uint32_t client_sequence = at[PLAIN_WORDS + 2];

	begin(1);
	put(OP_CREATE_SESSION);
	put_words(client, 2);
	put_words(&client_sequence, 1);
	put(0);
	put_channel();
	put_channel();
	put(0x40000000);
	put(1);
	put(0);
	call();
	memcpy(session, at + PLAIN_WORDS, sizeof(session));
	begin_in_session(1);
	put(OP_RECLAIM_COMPLETE);
	put(0);
	call();
}

static void destroy_session(void)
{
	begin(1);
	put(OP_DESTROY_SESSION);
	put_words(session, SESSION_WORDS);
	call();
	begin(1);
	put(OP_DESTROY_CLIENTID);
	put_words(client, 2);
	call();
}

/* ---- the file ---- */

static void put_lookup(const char *name)
{
	put(OP_LOOKUP);
	put_opaque(name, (uint32_t)strlen(name));
}

static void open_file(const char *name)
{
	begin_in_session(4);
	put(OP_PUTROOTFH);
	put_lookup("export");
	put(OP_OPEN);
	put(0);
	put(0x403); /* to read and write; no delegation is wanted */
	put(0);
	put_words(client, 2);
	put_opaque("owner", 5);
	put(1); /* it is made, if it is not there */
	put(0);
	put(0);
	put(0);
	put(0);
	put_opaque(name, (uint32_t)strlen(name));
	put(OP_GETATTR);
	put(1);
	put(1 << 4); /* its size */
	call();
	memcpy(stateid, at + SEQUENCE_WORDS + 3 * PLAIN_WORDS, sizeof(stateid));
}

/* With the file as the current one. Returns how many words of results are before those of what follows. */
static unsigned begin_file(const char *name, unsigned nops)
{
	begin_in_session(3 + nops);
	put(OP_PUTROOTFH);
	put_lookup("export");
	put_lookup(name);
	return SEQUENCE_WORDS + 3 * PLAIN_WORDS;
}

static void fill(uint8_t *data, uint32_t len, uint64_t offset)
{
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)((offset + i) * 31 >> 3);
}

static void write_piece(const char *name, uint8_t *data, uint32_t len, uint64_t offset)
{
	unsigned results;

	fill(data, len, offset);
	results = begin_file(name, 1);
	put(OP_WRITE);
	put_words(stateid, STATEID_WORDS);
	put_hyper(offset);
	put(0);
	put_opaque(data, len);
	call();
	if (ntohl(at[results + PLAIN_WORDS]) != len)
		die("not all was written");
}

static void read_piece(const char *name, uint8_t *data, uint32_t len, uint64_t offset)
{
	unsigned results;

	fill(data, len, offset);
	results = begin_file(name, 2);
	put(OP_READ);
	put_words(stateid, STATEID_WORDS);
	put_hyper(offset);
	put(len);
	put(OP_GETATTR);
	put(1);
	put(1 << 4);
	call();
	if (ntohl(at[results + PLAIN_WORDS + 1]) != len ||
	    memcmp(at + results + PLAIN_WORDS + 2, data, len))
		die("what is read is not what was written");
}

static void close_file(const char *name)
{
	begin_file(name, 2);
	put(OP_COMMIT);
	put_hyper(0);
	put(0);
	put(OP_CLOSE);
	put(0);
	put_words(stateid, STATEID_WORDS);
	call();
}

static void connect_to(const char *address, const char *port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || inet_pton(AF_INET, address, &addr.sin_addr) != 1 ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("no connection");
}

int main(int argc, char **argv)
{
	uint32_t bytes = argc == 6 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	uint32_t piece = argc == 6 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0;
	uint8_t *data = malloc(piece + 1);

	if (!data || !piece || piece > ROOM_WORDS * 2 || bytes % piece) {
		fprintf(stderr, "usage: nfs41_client ADDRESS PORT NAME BYTES PIECE\n");
		return 2;
	}
	connect_to(argv[1], argv[2]);
	exchange_id();
	create_session();
	open_file(argv[3]);
	for (uint32_t offset = 0; offset < bytes; offset += piece)
		write_piece(argv[3], data, piece, offset);
	for (uint32_t offset = 0; offset < bytes; offset += piece)
		read_piece(argv[3], data, piece, offset);
	close_file(argv[3]);
	destroy_session();
	printf("%u\n", xid);
	free(data);
	return 0;
}
