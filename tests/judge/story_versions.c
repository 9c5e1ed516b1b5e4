// SPDX-License-Identifier: BSD-3-Clause
/*
 * Negotiation of a version: one acceptor speaks version one only, one version two only, and one
 * answers too late.
 */
#include "tests/judge/forge.h"

#define GETATTR 1u

static void put_call(struct conn *c, uint32_t xid, uint32_t version)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, version, 8, 0, 0, 0, 0});
	rpc_call(&m, xid, GETATTR);
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, uint32_t xid, uint32_t version)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, version, 4, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 1, &m);
}

static void refuse(struct conn *c, uint32_t xid, uint32_t version, uint32_t low, uint32_t high)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, version, 4, 4, 1, low, high});
	put_send(c, 1, &m);
}

/* An INIT without a value; as an update, one of a characteristic that nobody knows. */
static void put_optional(struct conn *c, unsigned side, uint32_t xid, uint32_t option)
{
	struct msg m = {.len = 0};

	words(&m, 5, (uint32_t[]){xid, 2, 4, 5, option});
	if (option == 1)
		words(&m, 3, (uint32_t[]){8, 0, 0});
	else
		words(&m, 4, (uint32_t[]){12, 0xffffff00, 0, 0});
	put_send(c, side, &m);
}

static void begin(struct conn *c)
{
	static uint16_t port = 910;

	connect_ends(c, port++, 20049);
	put_mpa(c, 0, 0x00010000, 0x01000000);
	put_mpa(c, 1, 0x00000001, 0x01000000);
}

/* The first Call is of version two; it goes once more, as version one. */
static void only_one(void)
{
	struct conn c;

	begin(&c);
	put_call(&c, 1, 2);
	refuse(&c, 1, 1, 1, fault("false-range") ? 2 : 1);
	put_call(&c, 1, fault("out-of-range") ? 2 : 1);
	if (fault("thrice")) {
		refuse(&c, 1, 1, 2, 2);
		put_call(&c, 1, 2);
		put_reply(&c, 1, 2);
		disconnect(&c);
		return;
	}
	if (fault("out-of-range"))
		refuse(&c, 1, 1, 1, 1);
	else
		put_reply(&c, 1, fault("reply-version") ? 2 : 1);
	if (fault("other-version") || fault("other-answered") || fault("other-range")) {
		put_call(&c, 2, 2);
		if (fault("other-answered"))
			put_reply(&c, 2, 2);
		else
			refuse(&c, 2, 1, fault("other-range") ? 3 : 1,
			       fault("other-range") ? 3 : 1);
	}
	disconnect(&c);
}

/* So does an INIT. */
static void only_one_asked(void)
{
	struct conn c;

	begin(&c);
	put_optional(&c, 0, 0x1001, 1);
	refuse(&c, 0x1001, 1, 1, 1);
	put_call(&c, 1, 1);
	put_reply(&c, 1, 1);
	disconnect(&c);
}

/* The INIT is dropped; a Call of version one is refused, and goes once more as version two. */
static void only_two(void)
{
	struct conn c;

	begin(&c);
	put_optional(&c, 0, 0x1001, 1);
	put_call(&c, 1, fault("eager") ? 2 : 1);
	if (!fault("eager")) {
		refuse(&c, 1, 1, 2, 2);
		put_call(&c, 1, 2);
	}
	put_reply(&c, 1, 2);
	put_call(&c, 2, 2);
	put_reply(&c, 2, 2);
	disconnect(&c);
}

/* The answer to the INIT comes when the initiator has gone on as version one. */
static void late(void)
{
	struct conn c;

	begin(&c);
	put_optional(&c, 0, 0x1001, 1);
	put_call(&c, 1, 1);
	put_optional(&c, 1, 0x1001, 1);
	put_reply(&c, 1, 1);
	if (fault("late-update"))
		put_optional(&c, 1, 0x2001, 4);
	if (fault("late-own"))
		put_optional(&c, 0, 0x1002, 4);
	put_call(&c, 2, 1);
	put_reply(&c, 2, 1);
	disconnect(&c);
}

void story_versions(void)
{
	only_one();
	only_one_asked();
	only_two();
	late();
}
