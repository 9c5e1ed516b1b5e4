// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_hostile.h"

#include <string.h>

#include "base/be_bytes.h"
#include "fabric/iwarp/proto.h"
#include "tests/lib/test.h"

#define GAP_BYTES    1000u /* after each plot; never exposed */
#define STRIDE_BYTES (PLOT_BYTES + GAP_BYTES)
#define TOTAL_BYTES  (PLOTS * STRIDE_BYTES)

struct plot plots[PLOTS];

static struct buf *memory;
static uint8_t expected[TOTAL_BYTES];
static uint8_t defined[TOTAL_BYTES]; /* 0xff where it is known what is there, else 0 */
static unsigned lent;                /* how many ever were */
static uint8_t filling;              /* of the plot that was taken back last */

static uint32_t offset_of(const struct plot *plot)
{
	return (uint32_t)(plot - plots) * STRIDE_BYTES;
}

static bool is_wrong(uint32_t at)
{
	return (memory->mem[at] ^ expected[at]) & defined[at];
}

static void check(uint32_t at, uint32_t len_bytes)
{
	uint8_t wrong = 0;

	for (uint32_t i = at; i < at + len_bytes; i++)
		wrong |= (uint8_t)((memory->mem[i] ^ expected[i]) & defined[i]);
	if (!wrong)
		return;
	while (!is_wrong(at))
		at++;
	ck_abort_msg("plot %u of use %d, byte %u: %02x instead of %02x", at / STRIDE_BYTES,
		     (int)plots[at / STRIDE_BYTES].use, at % STRIDE_BYTES, memory->mem[at],
		     expected[at]);
}

void plots_check(void)
{
	check(0, TOTAL_BYTES);
}

static void fill(uint32_t at, uint32_t len_bytes)
{
	filling++;
	memset(memory->mem + at, filling, len_bytes);
	memset(expected + at, filling, len_bytes);
	memset(defined + at, 0xff, len_bytes);
}

void plots_start(void)
{
	memset(plots, 0, sizeof(plots));
	lent = 0;
	memory = buf_get(b.pool, TOTAL_BYTES);
	ck_assert_ptr_nonnull(memory);
	fill(0, TOTAL_BYTES);
}

void plots_stop(void)
{
	for (unsigned i = 0; i < PLOTS; i++)
		if (plots[i].use == PLOT_WRITE || plots[i].use == PLOT_ANY)
			plot_take_back(&plots[i]);
	iwarp_engine_flush(b.engine);
	for (unsigned i = 0; i < PLOTS; i++)
		ck_assert(plots[i].use == PLOT_OWN);
	plots_check();
	ck_assert_uint_eq(memory->refs, 1);
	buf_put(memory);
}

static void own_again(struct plot *plot)
{
	check(offset_of(plot), STRIDE_BYTES);
	fill(offset_of(plot), PLOT_BYTES);
	plot->use = PLOT_OWN;
}

void plot_take_back(struct plot *plot)
{
	ck_assert(iwarp_engine_key_unbind(b.engine, &plot->key));
	own_again(plot);
}

static void on_read_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct side_wr *read = container_of(wr, struct side_wr, wr);
	struct plot *plot = container_of(read, struct plot, read);

	ck_assert(plot->use == PLOT_RESPONSE);
	/* The peer has answered, or never did until the end. */
	ck_assert(plot->over == (status == FABRIC_OK));
	own_again(plot);
}

static void read_into(struct plot *plot)
{
	side_wr_init(&plot->read, &b, FABRIC_READ);
	side_wr_add(&plot->read, memory, offset_of(plot), plot->len_bytes);
	plot->read.wr.rkey = (uint32_t)(plot - plots);
	plot->read.wr.done = on_read_done;
	side_post(&b, &plot->read);
}

static void lend(struct plot *plot, struct iwarp_random *random)
{
	static const enum plot_use uses[] = {PLOT_WRITE, PLOT_WRITE, PLOT_ANY, PLOT_RESPONSE,
					     PLOT_RESPONSE};
	static const uint32_t lengths[] = {100000, PLOT_BYTES};
	uint32_t at = offset_of(plot);

	memset(plot, 0, sizeof(*plot));
	plot->use = uses[roll(random, 5)];
	plot->order = ++lent;
	plot->len_bytes = roll(random, 3) ? lengths[roll(random, 2)] : 1 + roll(random, PLOT_BYTES);
	/* What may be read stays what it is until the peer writes. */
	if (plot->use != PLOT_ANY)
		memset(defined + at, 0, plot->len_bytes);
	if (plot->use == PLOT_RESPONSE)
		read_into(plot);
	else
		side_key(&b, &plot->key, memory, at, plot->len_bytes,
			 plot->use == PLOT_ANY ? FABRIC_REMOTE_WRITE | FABRIC_REMOTE_READ
					       : FABRIC_REMOTE_WRITE);
}

/* The Read Requests say where their Responses go. */
static void requests_take(void)
{
	static uint8_t out[65536];
	size_t len = side_take(&b, out, sizeof(out));

	for (size_t at = 0; at < len;) {
		const uint8_t *ddp = out + at + MPA_LENGTH_BYTES;
		const uint8_t *request = ddp + DDP_UNTAGGED_BYTES;
		struct plot *plot = &plots[be32_get(request + 16)];

		ck_assert_uint_eq(ddp[1] & RDMAP_OPCODE_MASK, RDMAP_READ_REQUEST);
		plot->sink_stag = be32_get(request);
		plot->sink_to = be64_get(request + 4);
		ck_assert_uint_eq(be32_get(request + 12), plot->len_bytes);
		at += (MPA_LENGTH_BYTES + be16_get(out + at) + 3u) / 4 * 4 + MPA_CRC_BYTES;
	}
}

void plots_lend(struct iwarp_random *random)
{
	for (unsigned i = 0; i < PLOTS; i++)
		if (plots[i].use == PLOT_OWN && roll(random, 2))
			lend(&plots[i], random);
	requests_take();
}

void plot_expect(const struct plot *plot, uint32_t at, const uint8_t *bytes, uint32_t len_bytes)
{
	memcpy(expected + offset_of(plot) + at, bytes, len_bytes);
	memset(defined + offset_of(plot) + at, 0xff, len_bytes);
}

struct plot *plot_at(const uint8_t *mem)
{
	if (mem < memory->mem || mem >= memory->mem + TOTAL_BYTES)
		return NULL;
	return &plots[(uint32_t)(mem - memory->mem) / STRIDE_BYTES];
}

bool plot_holds(const struct plot *plot, const uint8_t *mem, size_t len_bytes)
{
	size_t at = (size_t)(mem - memory->mem) - offset_of(plot);

	return plot->use != PLOT_OWN && at + len_bytes <= plot->len_bytes;
}
