// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"

#define CLIENT    0x0a000001u
#define SERVER    0x0a000002u
#define NFS_PROG  100003u
#define FH_BYTES  32u
#define SINK_STAG 0x65432100u
#define SINK_AT   8192u

static FILE *out;
static const char *chosen;
static bool used;
static unsigned packets;

bool fault(const char *name)
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

void forge_open(const char *path, const char *fault_name)
{
	chosen = fault_name;
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

int forge_close(void)
{
	put_statistics();
	if (*chosen && !used) {
		fprintf(stderr, "no such fault: %s\n", chosen);
		return 2;
	}
	return fclose(out) ? 1 : 0;
}

/* ---------------------------------------------------------------- TCP */

void put_segment(const struct conn *c, unsigned side, uint8_t flags, uint32_t seq,
		 const uint8_t *data, size_t len)
{
	const struct end *from = &c->end[side], *to = &c->end[!side];
	uint8_t packet[40 + FORGE_MAX_BYTES] = {0x45};
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

void connect_ends(struct conn *c, uint16_t from_port, uint16_t to_port)
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

void disconnect(struct conn *c)
{
	put_segment(c, 0, FIN | ACK, c->end[0].seq++, NULL, 0);
	put_segment(c, 1, FIN | ACK, c->end[1].seq++, NULL, 0);
	put_segment(c, 0, ACK, c->end[0].seq, NULL, 0);
}

/* ---------------------------------------------------------------- messages */

void word(struct msg *m, uint32_t value)
{
	put_be32(m->data + m->len, value);
	m->len += 4;
}

void words(struct msg *m, unsigned count, const uint32_t *values)
{
	while (count--)
		word(m, *values++);
}

void fill(struct msg *m, size_t len, uint8_t with)
{
	memset(m->data + m->len, with, len);
	m->len += len;
}

void append(struct msg *m, const struct msg *tail)
{
	memcpy(m->data + m->len, tail->data, tail->len);
	m->len += tail->len;
}

void rpc_call(struct msg *m, uint32_t xid, uint32_t proc)
{
	words(m, 10, (uint32_t[]){xid, 0, 2, NFS_PROG, 3, proc, 0, 0, 0, 0});
	word(m, FH_BYTES);
	fill(m, FH_BYTES, 0xfe);
}

void rpc_reply(struct msg *m, uint32_t xid)
{
	words(m, 7, (uint32_t[]){xid, 1, 0, 0, 0, 0, 70 /* NFS3ERR_STALE */});
}

/* ---------------------------------------------------------------- iWARP */

void put_mpa(struct conn *c, unsigned side, uint32_t depths, uint32_t sizes)
{
	struct msg m = {.len = 0};

	memcpy(m.data, side ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
	m.len = 16;
	word(&m, 0x50020000u | 12 | (side && fault("rejected") ? 0x20000000u : 0));
	word(&m, depths);
	words(&m, 2, (uint32_t[]){0xf6ab0e18, sizes});
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
	if (c->spoil || (fault("crc") && ulpdu->len > 600))
		crc ^= 0x100;
	c->spoil = false;
	for (int i = 0; i < 4; i++)
		m.data[m.len++] = (uint8_t)(crc >> 8 * i);
	put_stream(c, side, m.data, m.len);
}

static void begin_untagged(struct msg *m, uint8_t op, uint32_t stag, uint32_t qn, uint32_t msn)
{
	*m = (struct msg){.data = {0x41, (uint8_t)(0x40 | op)}, .len = 2};
	words(m, 4, (uint32_t[]){stag, qn, msn, 0});
}

static void put_send_op(struct conn *c, unsigned side, uint8_t op, uint32_t stag,
			const struct msg *payload)
{
	struct msg m;

	c->msn[side]++;
	begin_untagged(&m, op, stag, 0, c->msn[side] + (c->msn[side] == 2 && fault("msn")));
	append(&m, payload);
	put_fpdu(c, side, &m);
}

void put_send(struct conn *c, unsigned side, const struct msg *payload)
{
	put_send_op(c, side, 3, 0, payload);
}

void put_send_part(struct conn *c, unsigned side, const struct msg *payload, size_t from, size_t to)
{
	struct msg m;

	c->msn[side] += !from;
	begin_untagged(&m, 3, 0, 0, c->msn[side]);
	if (to < payload->len)
		m.data[0] &= 0xbf;
	put_be32(m.data + m.len - 4, (uint32_t)from);
	memcpy(m.data + m.len, payload->data + from, to - from);
	m.len += to - from;
	put_fpdu(c, side, &m);
}

void put_send_invalidate(struct conn *c, unsigned side, const struct msg *payload, uint32_t stag)
{
	put_send_op(c, side, 4, stag, payload);
}

void put_read(struct conn *c, unsigned side, uint32_t stag, uint32_t len)
{
	struct msg m;

	begin_untagged(&m, 1, 0, 1, ++c->read_msn[side]);
	words(&m, 7, (uint32_t[]){SINK_STAG, 0, SINK_AT, len, stag, 0, 4096});
	put_fpdu(c, side, &m);
}

void put_response(struct conn *c, unsigned side, uint32_t len)
{
	struct msg m = {.data = {0xc1, 0x42}, .len = 2};

	words(&m, 3, (uint32_t[]){SINK_STAG, 0, SINK_AT + (fault("misplaced") ? 4 : 0)});
	fill(&m, len, 0xda);
	put_fpdu(c, side, &m);
}

void put_write_data(struct conn *c, unsigned side, uint32_t len)
{
	struct msg m = {.data = {0xc1, 0x40}, .len = 2};

	words(&m, 3, (uint32_t[]){SINK_STAG, 0, SINK_AT});
	fill(&m, len, 0xda);
	put_fpdu(c, side, &m);
}

void put_terminate(struct conn *c, unsigned side)
{
	struct msg m;

	begin_untagged(&m, 7, 0, 2, 1);
	word(&m, fault("other-terminate") ? 0x20030000 : 0x20020000);
	put_fpdu(c, side, &m);
}

void spoil_next(struct conn *c)
{
	c->spoil = true;
}

/* ---------------------------------------------------------------- records */

void put_record(struct conn *c, unsigned side, const struct msg *rpc)
{
	struct msg m = {.len = 0};

	word(&m, 0x80000000u | (uint32_t)rpc->len);
	append(&m, rpc);
	put_stream(c, side, m.data, m.len);
}
