// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/pieces.h"

#include "tests/lib/test.h"

const uint8_t pd_4096[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

struct rig *rig;
struct raw *raw;

void pieces_end(void)
{
	if (raw)
		raw_free(raw);
	raw = NULL;
	rig_end(rig);
}

void pieces_open_pair(void)
{
	fake_nfs_reset();
	raw = NULL;
	rig = rig_open(NULL);
}

unsigned sends_waiting(void)
{
	return raw->nrecvs - raw->nread;
}

uint32_t next_piece(uint32_t have, uint32_t len)
{
	uint32_t step = have < RIG_CALL_MIN + 4 ? 1 : 1 + (len - have) / 3;

	return have + step < len ? have + step : len - 1;
}

void expect_broken_off(struct rig_side *side)
{
	unsigned sends = raw->nrecvs;

	leg_close(side->leg, LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(side->closed, 1);
	ck_assert_int_eq(side->why, LEG_CLOSE_PEER);
	ck_assert_uint_eq(raw->nrecvs, sends);
	/* A reset tells the server that its client is gone. */
	ck_assert_int_eq(raw->why, side == &rig->client ? FABRIC_CLOSE_LOST : FABRIC_CLOSE_PEER);
	ck_assert_uint_eq(side->answered + side->faults, 0);
}
