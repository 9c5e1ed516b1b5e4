// SPDX-License-Identifier: BSD-3-Clause
/*
 * make_capture FILE [FAULT]: a small capture for the judge's own test: NFSv3 over iWARP on one connection and over
 * TCP on another, all as it should be, but for the fault that is named (see the calls of fault()).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"

#define MAX_BYTES  8192u
#define FH_BYTES   32u
#define DATA_BYTES 1000u
#define READ_STAG  0x12345600u
#define SINK_STAG  0x65432100u
#define CLIENT     0x0a000001u
#define SERVER     0x0a000002u
#define NFS_PROG   100003u
#define GETATTR    1u
#define WRITE      7u

static FILE *out;
static const char *chosen;
static bool used;
static unsigned packets;

static bool fault(const char *name)
{
	if (strcmp(chosen, name))
		return false;
	used = true;
	return true;
}

/* ---------------------------------------------------------------- pcapng */

static void put_host32(uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void open_file(const char *path)
{
	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		exit(1);
	}
	put_host32(0x0a0d0d0a); /* a section, of unknown length */
	put_host32(28);
	put_host32(0x1a2b3c4d);
	put_host32(1);
	put_host32(0xffffffff);
	put_host32(0xffffffff);
	put_host32(28);
	put_host32(1); /* an interface of bare IP packets */
	put_host32(20);
	put_host32(101);
	put_host32(0);
	put_host32(20);
}

static void put_packet(const uint8_t *data, uint32_t len)
{
	static const uint8_t zero[4];
	uint32_t kept = fault("snap") && packets == 9 ? len - 1 : len;
	uint32_t pad = -kept & 3;

	packets++;
	put_host32(6);
	put_host32(32 + kept + pad);
	put_host32(0);
	put_host32(0);
	put_host32(packets * 1000);
	put_host32(kept);
	put_host32(len);
	fwrite(data, kept, 1, out);
	fwrite(zero, pad, 1, out);
	put_host32(32 + kept + pad);
}

/* What dumpcap writes last: how many packets were dropped. */
static void put_statistics(void)
{
	put_host32(5);
	put_host32(40);
	put_host32(0);
	put_host32(0);
	put_host32(0);
	put_host32(5 | 8 << 16);
	put_host32(fault("dropped") ? 3 : 0);
	put_host32(0);
	put_host32(0);
	put_host32(40);
}

/* ---------------------------------------------------------------- TCP */

struct end {
	uint32_t addr;
	uint16_t port;
	uint32_t seq;
};

struct conn {
	struct end end[2];
	uint32_t msn[2], read_msn;
};

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define ACK 0x10

static void put_segment(const struct conn *c, unsigned side, uint8_t flags, uint32_t seq,
			const uint8_t *data, size_t len)
{
	const struct end *from = &c->end[side], *to = &c->end[!side];
	uint8_t packet[40 + MAX_BYTES] = {0x45};
	uint8_t *tcp = packet + 20;

	put_be16(packet + 2, (unsigned)(40 + len));
	packet[8] = 64;
	packet[9] = 6;
	put_be32(packet + 12, from->addr);
	put_be32(packet + 16, to->addr);
	put_be16(tcp, from->port);
	put_be16(tcp + 2, to->port);
	put_be32(tcp + 4, seq);
	put_be32(tcp + 8, flags & ACK ? to->seq : 0);
	tcp[12] = 0x50;
	tcp[13] = flags;
	put_be16(tcp + 14, 0xffff);
	if (len)
		memcpy(packet + 40, data, len);
	put_packet(packet, (uint32_t)(40 + len));
}

/* A unit of a stream, in one segment; once, if so asked, in three of which two change places. */
static void put_stream(struct conn *c, unsigned side, const uint8_t *data, size_t len)
{
	struct end *from = &c->end[side];

	if (fault("disorder") && len > 600) {
		put_segment(c, side, ACK, from->seq + 400, data + 400, len - 400);
		put_segment(c, side, ACK, from->seq, data, 300);
		put_segment(c, side, ACK, from->seq + 200, data + 200, 250);
	} else if (!(fault("lost") && len > 600)) {
		put_segment(c, side, ACK, from->seq, data, len);
	}
	from->seq += (uint32_t)len;
	put_segment(c, !side, ACK, c->end[!side].seq, NULL, 0);
}

static void connect_ends(struct conn *c, uint16_t from_port, uint16_t to_port)
{
	static uint32_t connections;
	uint32_t first = 100000 * connections++;

	*c = (struct conn){
		.end = {{CLIENT, from_port, 0xfffffe00u + first}, {SERVER, to_port, 5000 + first}}};
	if (!fault("stray")) {
		put_segment(c, 0, SYN, c->end[0].seq, NULL, 0);
		c->end[0].seq++;
		put_segment(c, 1, SYN | ACK, c->end[1].seq, NULL, 0);
		c->end[1].seq++;
	}
	put_segment(c, 0, ACK, c->end[0].seq, NULL, 0);
}

static void disconnect(struct conn *c)
{
	put_segment(c, 0, FIN | ACK, c->end[0].seq++, NULL, 0);
	put_segment(c, 1, FIN | ACK, c->end[1].seq++, NULL, 0);
	put_segment(c, 0, ACK, c->end[0].seq, NULL, 0);
}

/* ---------------------------------------------------------------- messages */

struct msg {
	uint8_t data[MAX_BYTES];
	size_t len;
};

static void word(struct msg *m, uint32_t value)
{
	put_be32(m->data + m->len, value);
	m->len += 4;
}

static void words(struct msg *m, unsigned count, const uint32_t *values)
{
	while (count--)
		word(m, *values++);
}

static void fill(struct msg *m, size_t len, uint8_t with)
{
	memset(m->data + m->len, with, len);
	m->len += len;
}

static void append(struct msg *m, const struct msg *tail)
{
	memcpy(m->data + m->len, tail->data, tail->len);
	m->len += tail->len;
}

static void rpc_call(struct msg *m, uint32_t xid, uint32_t proc)
{
	words(m, 10, (uint32_t[]){xid, 0, 2, NFS_PROG, 3, proc, 0, 0, 0, 0});
	word(m, FH_BYTES);
	fill(m, FH_BYTES, 0xfe);
}

static void rpc_reply(struct msg *m, uint32_t xid)
{
	words(m, 7, (uint32_t[]){xid, 1, 0, 0, 0, 0, 70 /* NFS3ERR_STALE */});
}

/* ---------------------------------------------------------------- iWARP */

static void put_mpa(struct conn *c, unsigned side)
{
	struct msg m = {.len = 0};

	memcpy(m.data, side ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
	m.len = 16;
	word(&m, 0x50020000u | 12 | (side && fault("rejected") ? 0x20000000u : 0));
	word(&m, side ? 0x00000001 : 0x00010000);
	words(&m, 2, (uint32_t[]){0xf6ab0e18, 0x01010000});
	put_stream(c, side, m.data, m.len);
}

static void put_fpdu(struct conn *c, unsigned side, const struct msg *ulpdu)
{
	struct msg m;
	uint32_t crc;

	put_be16(m.data, (unsigned)ulpdu->len);
	memcpy(m.data + 2, ulpdu->data, ulpdu->len);
	m.len = 2 + ulpdu->len;
	fill(&m, -m.len & 3, 0);
	crc = crc32c_of(m.data, m.len);
	if (fault("crc") && ulpdu->len > 600)
		crc ^= 0x100;
	for (int i = 0; i < 4; i++)
		m.data[m.len++] = (uint8_t)(crc >> 8 * i);
	put_stream(c, side, m.data, m.len);
}

static void begin_untagged(struct msg *m, uint8_t op, uint32_t qn, uint32_t msn)
{
	m->len = 0;
	word(m, 0x41400000u | (uint32_t)op << 16); /* and the first half of the STag */
	m->len = 6;
	words(m, 3, (uint32_t[]){qn, msn, 0});
	m->data[4] = m->data[5] = 0;
}

static void put_send(struct conn *c, unsigned side, const struct msg *payload)
{
	struct msg m;

	c->msn[side]++;
	begin_untagged(&m, 3, 0, c->msn[side] + (c->msn[side] == 2 && fault("msn")));
	append(&m, payload);
	put_fpdu(c, side, &m);
}

static void put_error(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 5, (uint32_t[]){xid, 1, 1, 4, 2});
	put_send(c, 1, &m);
}

static void put_call(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, 1, 32, 0, 0, 0, 0});
	if (fault("header") && xid == 3)
		put_be32(m.data + 16, 1); /* a read chunk that is not there */
	rpc_call(&m, xid, GETATTR);
	if (fault("long") && xid == 3)
		fill(&m, 2000, 0);
	if (fault("truncated") && xid == 3)
		m.len -= 8;
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, uint32_t xid, uint32_t grant)
{
	struct msg m = {.len = 0};

	if (fault("no-reply") && xid == 3)
		return;
	words(&m, 7, (uint32_t[]){xid, 1, grant, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 1, &m);
	if (fault("twice") && xid == 3)
		put_send(c, 1, &m);
}

/* A WRITE whose data the server reads. */
static void put_write(struct conn *c, uint32_t xid)
{
	struct msg rpc = {.len = 0}, m = {.len = 0};

	rpc_call(&rpc, xid, WRITE);
	words(&rpc, 5, (uint32_t[]){0, 0, DATA_BYTES, 2, DATA_BYTES});
	words(&m, 4, (uint32_t[]){xid, 1, 32, 0});
	words(&m, 6, (uint32_t[]){1, (uint32_t)rpc.len, READ_STAG, DATA_BYTES, 0, 4096});
	words(&m, 3, (uint32_t[]){0, 0, 0});
	append(&m, &rpc);
	put_send(c, 0, &m);

	begin_untagged(&m, 1, 1, ++c->read_msn);
	words(&m, 7, (uint32_t[]){SINK_STAG, 0, 8192, DATA_BYTES, READ_STAG, 0, 4096});
	put_fpdu(c, 1, &m);
	if (!fault("no-response")) {
		m.len = 0;
		word(&m, 0xc1420000u | SINK_STAG >> 16);
		word(&m, SINK_STAG << 16);
		m.len -= 2;
		words(&m, 2, (uint32_t[]){0, fault("misplaced") ? 8196 : 8192});
		fill(&m, DATA_BYTES, 0xda);
		put_fpdu(c, 0, &m);
	}
	m.len = 0;
	words(&m, 7, (uint32_t[]){xid, 1, 4, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	words(&m, 2, (uint32_t[]){0, 0});
	put_send(c, 1, &m);
}

static void put_terminate(struct conn *c)
{
	struct msg m;

	begin_untagged(&m, 7, 2, 1);
	word(&m, 0x20020000);
	put_fpdu(c, 0, &m);
}

static void iwarp(void)
{
	struct conn c;

	connect_ends(&c, 900, 20049);
	put_mpa(&c, 0);
	put_mpa(&c, 1);
	put_call(&c, 1);
	if (fault("eager")) {
		put_call(&c, 20);
		put_reply(&c, 20, 4);
	}
	put_reply(&c, 1, 4);
	for (uint32_t xid = 2; xid <= 5; xid++)
		put_call(&c, xid);
	if (fault("again"))
		put_call(&c, 5);
	if (fault("overrun")) {
		put_call(&c, 6);
		put_reply(&c, 6, 4);
	}
	put_reply(&c, 3, 4);
	if (fault("bounded"))
		return;
	put_reply(&c, 2, 4);
	put_reply(&c, 5, 4);
	put_reply(&c, 4, 4);
	put_write(&c, 7);
	put_call(&c, 8);
	put_error(&c, 8);
	if (fault("terminate"))
		put_terminate(&c);
	if (fault("killed")) {
		put_call(&c, 9);
		put_segment(&c, 1, RST | ACK, c.end[1].seq, NULL, 0);
		return;
	}
	disconnect(&c);
}

/* ---------------------------------------------------------------- records */

static void put_record(struct conn *c, unsigned side, const struct msg *rpc)
{
	struct msg m = {.len = 0};

	word(&m, 0x80000000u | (uint32_t)rpc->len);
	append(&m, rpc);
	put_stream(c, side, m.data, m.len);
}

static void records(void)
{
	struct conn c;

	connect_ends(&c, 901, 2049);
	for (uint32_t xid = 0x101; xid <= 0x103; xid++) {
		struct msg m = {.len = 0};

		rpc_call(&m, xid, GETATTR);
		if (fault("tcp-truncated") && xid == 0x102)
			m.len -= 8;
		put_record(&c, 0, &m);
		m.len = 0;
		rpc_reply(&m, xid);
		if (!(fault("tcp-no-reply") && xid == 0x103))
			put_record(&c, 1, &m);
	}
	disconnect(&c);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	chosen = argc > 2 ? argv[2] : "";
	open_file(argv[1]);
	iwarp();
	if (fault("ports-again"))
		iwarp();
	if (!fault("bounded"))
		records();
	put_statistics();
	if (*chosen && !used) {
		fprintf(stderr, "no such fault: %s\n", chosen);
		return 2;
	}
	return fclose(out) ? 1 : 0;
}
