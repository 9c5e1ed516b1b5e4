// SPDX-License-Identifier: BSD-3-Clause
/* Keeps the Calls that siw of Linux leaves open by their XIDs, for the other leg. */
#include "tests/judge/excuse.h"

#include <stdlib.h>

#include "tests/judge/book.h"
#include "tests/judge/judge.h"

#define OP_WRITE         0
#define OP_READ_RESPONSE 2
#define OP_SEND          3
#define OP_SEND_SE_INV   6
#define TERMINATE_CRC    0x20020000u /* RFC 5044 section 8 */

static const char *payload_name(uint8_t op)
{
	switch (op) {
	case OP_WRITE:
		return "an RDMA Write";
	case OP_READ_RESPONSE:
		return "a Read Response";
	default:
		return op >= OP_SEND && op <= OP_SEND_SE_INV ? "a Send" : NULL;
	}
}

bool excuse_fault(struct hearing *hearing, unsigned side, uint8_t op)
{
	const struct excuse_peer *siw = &hearing->judge->siw;
	uint32_t addr = side ? siw->acceptor : siw->initiator;

	if (!addr || addr != hearing->conn->side[side].addr || !payload_name(op))
		return false;
	hearing->excuse = (struct excuse){.given = true, .side = side};
	hearing->judge->crc_faults++;
	judge_remark(hearing, "siw, %s, sends %s with a wrong CRC", judge_side(side),
		     payload_name(op));
	return true;
}

bool excuse_terminate(struct hearing *hearing, unsigned side, uint32_t word)
{
	struct excuse *excuse = &hearing->excuse;

	if (!excuse->given || side == excuse->side || excuse->terminated || word != TERMINATE_CRC)
		return false;
	excuse->terminated = true;
	return true;
}

static void add(struct excuse_calls *calls, const struct book_list *list)
{
	for (unsigned i = 0; i < list->count; i++) {
		if (calls->count == calls->room) {
			calls->room = calls->room ? 2 * calls->room : 16;
			calls->xids = realloc(calls->xids, calls->room * sizeof(*calls->xids));
			if (!calls->xids)
				abort();
		}
		calls->xids[calls->count++] = list->calls[i].xid;
	}
}

void excuse_end(struct hearing *hearing, const struct book *book, bool ended)
{
	struct judge *judge = hearing->judge;

	if (!hearing->excuse.terminated && (ended || !judge->bounded))
		judge_violation(hearing, "a wrong CRC without a Terminate");
	if (!ended && !judge->bounded)
		judge_violation(hearing, "it goes on after a wrong CRC");
	judge->excused.conns++;
	for (unsigned side = 0; side < 2; side++)
		add(&judge->excused, &book->page[side].waiting);
}

static bool has(const struct excuse_calls *calls, uint32_t xid)
{
	for (unsigned i = 0; i < calls->count; i++) {
		if (calls->xids[i] == xid)
			return true;
	}
	return false;
}

bool excuse_leg(struct judge *judge, const struct book *book, const uint32_t *partial_xid)
{
	bool shared = partial_xid && has(&judge->excused, *partial_xid);

	for (unsigned side = 0; side < 2; side++) {
		const struct book_list *waiting = &book->page[side].waiting;

		for (unsigned i = 0; i < waiting->count; i++)
			shared |= has(&judge->excused, waiting->calls[i].xid);
	}
	if (!shared || !judge->excused.conns)
		return false;
	judge->excused.conns--;
	return true;
}

void excuse_calls_fini(struct excuse_calls *calls)
{
	free(calls->xids);
}
