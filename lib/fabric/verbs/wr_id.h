/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes wr_id: the endpoint, the queue and the number of a work request. */
#ifndef FABRIC_VERBS_WR_ID_H
#define FABRIC_VERBS_WR_ID_H

#include "fabric/verbs/verbs_ep.h"

/*
 * wr_id, from the lowest bits: the queue; the low bits of the sequence number, or a receive's
 * place; the endpoint's slot; the generation of the slot.
 */
enum verbs_wr_kind { VERBS_WR_SEND, VERBS_WR_READ, VERBS_WR_RECV };

#define VERBS_NUMBER_BITS     22
#define VERBS_SLOT_BITS       20
#define VERBS_GENERATION_BITS 20

static inline uint64_t verbs_wr_base(unsigned slot, unsigned generation)
{
	return ((uint64_t)generation << VERBS_SLOT_BITS | slot) << (VERBS_NUMBER_BITS + 2);
}

static inline uint64_t verbs_wr_id(const struct verbs_ep *ep, uint64_t number,
				   enum verbs_wr_kind kind)
{
	return ep->wr_base | (number & ((1u << VERBS_NUMBER_BITS) - 1)) << 2 | kind;
}

static inline enum verbs_wr_kind verbs_wr_kind(uint64_t wr_id)
{
	return (enum verbs_wr_kind)(wr_id & 3);
}

/* Returns a receive's place. */
static inline unsigned verbs_wr_place(uint64_t wr_id)
{
	return (unsigned)(wr_id >> 2) & ((1u << VERBS_NUMBER_BITS) - 1);
}

/* Returns the sequence number of a posted work request: the highest one with these low bits. */
static inline uint64_t verbs_wr_seq(const struct verbs_ep *ep, uint64_t wr_id)
{
	uint64_t last = ep->next_seq - 1;

	return last - ((last - (wr_id >> 2)) & ((1u << VERBS_NUMBER_BITS) - 1));
}

#endif
