// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/versions.h"

#include "tests/judge/session.h"

static bool in_range(const struct versions *v, uint32_t version)
{
	return !v->has_range || (version >= v->low && version <= v->high);
}

/*
 * What an end sends shows that it speaks the version. From an initiator that goes on as version one, late answers to what
 * it sent of version two may still be under way: they count against the acceptor once it has answered a Call.
 */
void versions_send(struct session *s, unsigned side, const struct header *h)
{
	const struct versions *v = &s->versions;

	if (h->version == 2)
		s->limits.end[side].speaks_two = true;
	if (side == 0 && !in_range(v, h->version))
		judge_violation(s->hearing,
				"0x%08x of version %u, where the acceptor speaks %u to %u", h->xid,
				h->version, v->low, v->high);
	if (h->proc == RDMA_OPTIONAL) {
		uint32_t fixed = side ? v->answered : v->settled;

		if (fixed && fixed != h->version)
			judge_violation(s->hearing,
					"RDMA_OPTIONAL 0x%08x of version %u in a connection of %u",
					h->xid, h->version, fixed);
	}
}

bool versions_call(struct session *s, unsigned side, uint32_t xid, uint32_t version)
{
	struct versions *v = &s->versions;

	if (side == 0 && v->refused > 1 && v->refused_xid == xid)
		judge_violation(s->hearing, "Call 0x%08x was refused twice and comes again", xid);
	if (v->settled && v->settled != version) {
		judge_violation(s->hearing, "Call 0x%08x of version %u in a connection of %u", xid,
				version, v->settled);
		return false;
	}
	if (side == 0)
		v->settled = version;
	return true;
}

void versions_answered(struct session *s, unsigned side, uint32_t version)
{
	if (side == 1)
		s->versions.answered = version;
}

/*
 * A range that holds the version refuses nothing. Where the version is settled, the range is that one; the refusal of the
 * first Call unsettles it.
 */
void versions_refuse(struct session *s, unsigned side, const struct header *h, uint32_t version,
		     bool call, bool misversioned)
{
	struct versions *v = &s->versions;

	if ((h->low <= version && version <= h->high) || (side == 1 && v->answered == version))
		judge_violation(s->hearing,
				"0x%08x of version %u is refused by an end that speaks %u to %u",
				h->xid, version, h->low, h->high);
	if (misversioned && (h->low != v->settled || h->high != v->settled))
		judge_violation(s->hearing,
				"0x%08x is refused with versions %u to %u in a connection of %u",
				h->xid, h->low, h->high, v->settled);
	if (side == 0)
		return;
	v->has_range = true;
	v->low = h->low;
	v->high = h->high;
	if (h->low <= 2 && h->high >= 2)
		s->limits.end[1].speaks_two = true;
	if (!call)
		return;
	if (!misversioned && !v->answered)
		v->settled = 0;
	v->refused = v->refused && v->refused_xid == h->xid ? v->refused + 1 : 1;
	v->refused_xid = h->xid;
}
