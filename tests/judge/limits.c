// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/limits.h"

#define DEFAULT_ONE 1024u
#define DEFAULT_TWO 4096u

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void limits_init(struct limits *limits)
{
	*limits = (struct limits){0};
	limits->end[0].private_bytes = limits->end[1].private_bytes = DEFAULT_ONE;
}

/* What an end has said of its receives, for version two. */
static uint32_t said(const struct limits_end *end)
{
	return end->rbsiz ? end->rbsiz : most(end->private_bytes, DEFAULT_TWO);
}

uint32_t limits_send(const struct limits *limits, unsigned side, uint32_t version)
{
	const struct limits_end *from = &limits->end[side], *to = &limits->end[!side];

	if (version != 2)
		return to->config_bytes ? to->config_bytes : to->private_bytes;
	/* A peer that may know version one only: draft-cel-nfsv4-rpcrdma-version-two-00 section 5. */
	if (!to->speaks_two)
		return DEFAULT_ONE;
	return from->asked ? least(from->asked, said(to)) : said(to);
}

uint32_t limits_reads(const struct limits *limits, unsigned side)
{
	const struct limits_end *to = &limits->end[!side];
	uint32_t reads = UINT32_MAX;

	if (to->has_ird)
		reads = to->ird;
	if (to->has_config_reads)
		reads = least(reads, to->config_reads);
	return reads;
}

/* The first word of an end on its receives takes back nothing that its private data promised. */
bool limits_announce(struct limits *limits, unsigned side, uint32_t bytes)
{
	struct limits_end *end = &limits->end[side];
	uint32_t asked = limits->end[!side].asked;

	bytes = most(bytes, DEFAULT_TWO);
	if (!end->rbsiz) {
		end->rbsiz = most(bytes, said(end));
		return true;
	}
	if (bytes < (asked ? least(asked, end->rbsiz) : end->rbsiz))
		return false;
	end->rbsiz = bytes;
	return true;
}

/* A request that takes the place of another raises no limit: the lower size holds until that is settled. */
void limits_ask(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid)
{
	struct limits_end *end = &limits->end[side];

	bytes = most(bytes, DEFAULT_TWO);
	end->asked = end->asked ? least(end->asked, bytes) : bytes;
	end->asked_xid = xid;
}

void limits_granted(struct limits *limits, unsigned side, uint32_t bytes, uint32_t xid)
{
	limits->end[side].rbsiz = most(bytes, DEFAULT_TWO);
	limits_refused(limits, side, xid);
}

void limits_refused(struct limits *limits, unsigned side, uint32_t xid)
{
	struct limits_end *asker = &limits->end[!side];

	if (asker->asked_xid == xid)
		asker->asked = 0;
}

void limits_settled(struct limits *limits, unsigned side)
{
	limits->end[!side].asked = 0;
}

/* Whether a second exchange changes anything is the acceptor's to say: the larger value of the two may be used. */
void limits_config(struct limits *limits, const uint32_t bytes[2], const uint32_t reads[2])
{
	for (unsigned i = 0; i < 2; i++) {
		struct limits_end *end = &limits->end[i];

		end->config_bytes = most(most(bytes[i], DEFAULT_ONE), end->config_bytes);
		end->config_reads = most(reads[i], end->config_reads);
		end->has_config_reads = true;
	}
}
