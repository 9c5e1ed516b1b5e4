// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_pair.h"

#include <string.h>

#include "tests/lib/test.h"

struct iwarp_side a, b;

void iwarp_pair_start(const struct iwarp_pair_variant *v)
{
	struct iwarp_config config = {.fpdu = v->fpdu};

	config.crc = v->crc_a;
	side_init(&a, &config, v->seed + 100);
	config.crc = v->crc_b;
	side_init(&b, &config, v->seed + 200);
	if (v->mss_bytes) {
		iwarp_engine_mss(a.engine, v->mss_bytes);
		iwarp_engine_mss(b.engine, v->mss_bytes);
	}
	side_open(&a, &b, v->seed);
}

void iwarp_pair_stop(void)
{
	ck_assert_uint_eq(a.notes, 0);
	ck_assert_uint_eq(b.notes, 0);
	ck_assert_uint_eq(a.counters.fpdus_sent, b.counters.fpdus_received);
	ck_assert_uint_eq(b.counters.fpdus_sent, a.counters.fpdus_received);
	ck_assert_uint_eq(a.counters.bytes_sent, b.counters.bytes_received);
	side_fini(&a);
	side_fini(&b);
}

void iwarp_pair_hello(uint64_t seed)
{
	struct buf *buf = buf_get(a.pool, 16);
	struct side_wr swr;

	memset(buf->mem, 0x11, 16);
	side_wr_init(&swr, &a, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 16);
	side_post(&a, &swr);
	side_pump(&a, &b, seed);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_uint_eq(b.nsends, 1);
	buf_put(buf);
}
