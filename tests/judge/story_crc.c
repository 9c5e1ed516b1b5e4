// SPDX-License-Identifier: BSD-3-Clause
/*
 * A proxy between TCP and siw of Linux, and an FPDU with a wrong CRC: the proxy answers it with a
 * Terminate and closes both connections, and the client repeats its Call on new ones.
 */
#include "tests/judge/forge.h"

#define GETATTR    1u
#define READ_STAG  0x12345600u
#define DATA_BYTES 1000u

static void put_call(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, 1, 32, 0, 0, 0, 0});
	rpc_call(&m, xid, GETATTR);
	put_send(c, 0, &m);
}

/* A Call whose arguments the other end reads. */
static void put_long_call(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 4, (uint32_t[]){xid, 1, 32, 1});
	words(&m, 6, (uint32_t[]){1, 0, READ_STAG, DATA_BYTES, 0, 4096});
	words(&m, 3, (uint32_t[]){0, 0, 0});
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, 1, 4, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 1, &m);
}

static void put_record_call(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	rpc_call(&m, xid, GETATTR);
	put_record(c, 0, &m);
}

static void put_record_reply(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	rpc_reply(&m, xid);
	put_record(c, 1, &m);
}

static void begin(struct conn *c, uint16_t port)
{
	connect_ends(c, port, 20049);
	put_mpa(c, 0, 0x00010000, 0x01010000);
	put_mpa(c, 1, 0x00000001, 0x01010000);
}

/* What siw sends with a wrong CRC, and the bytes that it had sent behind that. Returns the side that sent it. */
static unsigned put_spoiled(struct conn *c)
{
	if (fault("client")) {
		put_long_call(c, 2);
		put_call(c, 3);
		put_read(c, 1, READ_STAG, DATA_BYTES);
		spoil_next(c);
		put_response(c, 0, DATA_BYTES);
		return 0;
	}
	put_call(c, 2);
	spoil_next(c);
	if (fault("read-request"))
		put_read(c, 1, READ_STAG, DATA_BYTES);
	else if (fault("send"))
		put_reply(c, 2);
	else
		put_write_data(c, 1, DATA_BYTES);
	put_reply(c, 2);
	return 1;
}

static void spoiled(uint16_t port)
{
	struct conn c;
	unsigned from;

	begin(&c, port);
	put_call(&c, 1);
	put_reply(&c, 1);
	from = put_spoiled(&c);
	/* Messages sent before the wrong FPDU arrived. */
	if (!from)
		put_reply(&c, 3);
	else
		put_call(&c, 3);
	if (!fault("no-terminate"))
		put_terminate(&c, fault("wrong-end") ? from : !from);
	if (fault("terminate-twice"))
		put_terminate(&c, !from);
	if (fault("goes-on"))
		return;
	put_segment(&c, !from, RST | ACK, c.end[!from].seq, NULL, 0);
}

/* The client's connection, or the one to the server where siw is the client. */
static void other_leg(uint16_t port, uint32_t open_xid)
{
	struct conn c;

	connect_ends(&c, port, 2049);
	put_record_call(&c, 1);
	put_record_reply(&c, 1);
	put_record_call(&c, open_xid);
	disconnect(&c);
}

/* Of the Call only the beginning had gone on. */
static void other_leg_in_part(uint16_t port)
{
	struct conn c;
	uint8_t part[12] = {0x80, 0, 1, 0, 0, 0, 0, 2};

	connect_ends(&c, port, 2049);
	put_record_call(&c, 1);
	put_record_reply(&c, 1);
	put_segment(&c, 0, ACK, c.end[0].seq, part, sizeof(part));
	c.end[0].seq += sizeof(part);
	disconnect(&c);
}

static void again(void)
{
	struct conn c;

	connect_ends(&c, 913, 2049);
	put_record_call(&c, 2);
	put_record_reply(&c, 2);
	disconnect(&c);
	begin(&c, 914);
	put_call(&c, 2);
	put_reply(&c, 2);
	disconnect(&c);
}

void story_crc(void)
{
	spoiled(911);
	if (fault("part"))
		other_leg_in_part(912);
	else
		other_leg(912, fault("stranger") ? 0x77 : 2);
	if (fault("second-leg"))
		other_leg(915, 2);
	if (fault("twice"))
		spoiled(916);
	again();
}
