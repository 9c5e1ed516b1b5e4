// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"

#define IP_BYTES   20u
#define TCP_BYTES  20u
#define PROTO_TCP  6
#define FLAG_FIN   0x01
#define FLAG_SYN   0x02
#define FLAG_RST   0x04
#define FLAG_ACK   0x10
#define FIRST_ROOM 65536u

struct tcp_early {
	struct tcp_early *next; /* in the order of where they begin */
	uint64_t at;
	size_t len;
	uint8_t data[];
};

struct segment {
	uint32_t from_addr, to_addr;
	uint16_t from_port, to_port;
	uint32_t seq, ack;
	uint8_t flags;
	const uint8_t *data;
	size_t len;
};

static bool decode(struct segment *seg, const uint8_t *ip, size_t len)
{
	size_t head, total, offset;

	if (len < IP_BYTES || ip[0] >> 4 != 4 || ip[9] != PROTO_TCP)
		return false;
	head = (ip[0] & 15u) * 4;
	total = get_be16(ip + 2);
	/* A segment that the kernel has yet to cut can be too long for the field, which is then zero. */
	if (!total || total > len)
		total = len;
	if (head < IP_BYTES || total < head + TCP_BYTES)
		return false;
	seg->from_addr = get_be32(ip + 12);
	seg->to_addr = get_be32(ip + 16);
	ip += head;
	offset = (ip[12] >> 4) * 4u;
	if (offset < TCP_BYTES || offset > total - head)
		return false;
	seg->from_port = get_be16(ip);
	seg->to_port = get_be16(ip + 2);
	seg->seq = get_be32(ip + 4);
	seg->ack = get_be32(ip + 8);
	seg->flags = ip[13];
	seg->data = ip + offset;
	seg->len = total - head - offset;
	return true;
}

static bool side_is(const struct tcp_side *side, uint32_t addr, uint16_t port)
{
	return side->addr == addr && side->port == port;
}

/* The newest connection between the two ends; @from is who sent the segment. */
static struct tcp_conn *conn_find(const struct tcp *tcp, const struct segment *seg, unsigned *from)
{
	for (struct tcp_conn *c = tcp->conns; c; c = c->next) {
		for (*from = 0; *from < 2; ++*from)
			if (side_is(&c->side[*from], seg->from_addr, seg->from_port) &&
			    side_is(&c->side[!*from], seg->to_addr, seg->to_port))
				return c;
	}
	*from = 0;
	return NULL;
}

static struct tcp_conn *conn_new(struct tcp *tcp, const struct segment *seg,
				 const struct tcp_conn *before)
{
	struct tcp_conn *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->side[0].addr = seg->from_addr;
	c->side[0].port = seg->from_port;
	c->side[1].addr = seg->to_addr;
	c->side[1].port = seg->to_port;
	c->again = before ? before->again + 1 : 0;
	c->next = tcp->conns;
	tcp->conns = c;
	return c;
}

static void append(struct tcp_side *side, const uint8_t *data, size_t len)
{
	if (side->room - side->len < len) {
		size_t room = side->room ? side->room : FIRST_ROOM;
		uint8_t *grown;

		while (room - side->len < len)
			room *= 2;
		grown = realloc(side->data, room);
		if (!grown)
			abort();
		side->data = grown;
		side->room = room;
	}
	memcpy(side->data + side->len, data, len);
	side->len += len;
	side->next += len;
}

static void keep_early(struct tcp_side *side, uint64_t at, const uint8_t *data, size_t len)
{
	struct tcp_early **link = &side->early;
	struct tcp_early *early = malloc(sizeof(*early) + len);

	if (!early)
		abort();
	while (*link && (*link)->at < at)
		link = &(*link)->next;
	early->at = at;
	early->len = len;
	memcpy(early->data, data, len);
	early->next = *link;
	*link = early;
}

/* Takes a segment that begins at @at: what is new of it, and whatever has waited for it. */
static void place(struct tcp_side *side, uint64_t at, const uint8_t *data, size_t len)
{
	struct tcp_early *early;

	if (at > side->next) {
		keep_early(side, at, data, len);
		return;
	}
	if (at + len > side->next)
		append(side, data + (side->next - at), len - (size_t)(side->next - at));
	while ((early = side->early) && early->at <= side->next) {
		if (early->at + early->len > side->next) {
			size_t known = (size_t)(side->next - early->at);

			append(side, early->data + known, early->len - known);
		}
		side->early = early->next;
		free(early);
	}
}

/* A sequence number as a position, which is within 2 GiB of @near. */
static uint64_t position(const struct tcp_side *side, uint32_t seq, uint64_t near)
{
	return near + (uint64_t)(int64_t)(int32_t)(seq - side->first - (uint32_t)near);
}

static void take_ack(struct tcp_side *other, uint32_t ack)
{
	uint64_t at = position(other, ack, other->next);

	if ((int64_t)at > 0 && at > other->acked)
		other->acked = at;
}

void tcp_packet(struct tcp *tcp, const uint8_t *ip, size_t len, uint64_t at_us)
{
	struct segment seg;
	struct tcp_conn *c;
	struct tcp_side *side;
	unsigned from;
	uint64_t before, at;

	if (!decode(&seg, ip, len))
		return;
	c = conn_find(tcp, &seg, &from);
	if ((seg.flags & (FLAG_SYN | FLAG_ACK)) == FLAG_SYN &&
	    !(c && c->begun && from == 0 && c->side[0].first == seg.seq + 1)) {
		c = conn_new(tcp, &seg, c);
		c->begun = true;
		from = 0;
	} else if (!c) {
		c = conn_new(tcp, &seg, NULL);
	}
	side = &c->side[from];
	if (seg.flags & FLAG_SYN) {
		side->synced = true;
		side->first = seg.seq + 1;
		seg.seq++;
	}
	if (seg.flags & FLAG_RST)
		c->reset = true;
	if (seg.flags & FLAG_ACK && c->side[!from].synced)
		take_ack(&c->side[!from], seg.ack);
	if (!side->synced || !c->begun) {
		c->stray_bytes += seg.len;
		return;
	}
	if (seg.flags & FLAG_FIN)
		side->fin = true;
	if (!seg.len)
		return;
	before = side->next;
	at = position(side, seg.seq, side->next);
	if ((int64_t)at < 0) /* a keep-alive probe repeats the byte before the first */
		return;
	place(side, at, seg.data, seg.len);
	if (side->next > before) {
		size_t taken = tcp->data(tcp->ctx, c, from, at_us);

		memmove(side->data, side->data + taken, side->len - taken);
		side->len -= taken;
	}
}

bool tcp_missing(const struct tcp_side *side)
{
	return side->acked > side->next + side->fin;
}

void tcp_free(struct tcp *tcp)
{
	struct tcp_conn *c;

	while ((c = tcp->conns)) {
		tcp->conns = c->next;
		for (unsigned i = 0; i < 2; i++) {
			struct tcp_early *early;

			while ((early = c->side[i].early)) {
				c->side[i].early = early->next;
				free(early);
			}
			free(c->side[i].data);
		}
		free(c);
	}
}
