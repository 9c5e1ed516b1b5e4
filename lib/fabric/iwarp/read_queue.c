// SPDX-License-Identifier: BSD-3-Clause
/* Our Reads wait for the peer's IRD; the peer's Reads (IRRQ) wait for their Responses. */
#include <errno.h>
#include <string.h>

#include "fabric/iwarp/engine_priv.h"

void engine_read_post(struct iwarp_engine *engine, struct fabric_wr *wr)
{
	if (engine->reads_posted++ >= engine->ord)
		engine->counters->read_waits++;
	if (wr->sge[0].len_bytes >= RX_BULK_BYTES)
		engine->bulk++;
	TAILQ_INSERT_TAIL(&engine->reads_wait, wr, entry);
}

static void keepalive_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct iwarp_engine *engine = container_of(wr, struct iwarp_engine, keepalive);

	engine->keepalive_end = 0;
	engine->keepalive_deadline = UINT64_MAX;
}

int iwarp_engine_keepalive(struct iwarp_engine *engine)
{
	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	if (engine->initiator || !engine->ord_agreed || !engine->ord)
		return -EOPNOTSUPP;
	/* A keepalive or a Read is already outstanding; either detects a dead peer. */
	if (engine->reads_posted)
		return 0;
	engine->keepalive =
		(struct fabric_wr){.op = FABRIC_READ, .nsge = 1, .done = keepalive_done};
	engine->keepalive.sge[0].addr = engine->rx.header; /* any address, for zero bytes */
	engine_read_post(engine, &engine->keepalive);
	engine->counters->probes_sent++;
	return 0;
}

/* The Read Request is in a batch: the peer may now write to its sink, once and in order. */
void engine_read_built(struct iwarp_engine *engine, struct fabric_wr *wr)
{
	TAILQ_REMOVE(&engine->reads_wait, wr, entry);
	TAILQ_INSERT_TAIL(&engine->reads_out, wr, entry);
	engine->reads_out_count++;
	if (wr == &engine->keepalive)
		engine->keepalive_end = engine->tx.built;
}

/* Completes the oldest Read. */
void engine_read_done(struct iwarp_engine *engine, enum fabric_status status)
{
	struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);

	TAILQ_REMOVE(&engine->reads_out, wr, entry);
	engine->reads_out_count--;
	engine->reads_posted--;
	engine->rx.read_received = 0;
	if (wr->sge[0].len_bytes >= RX_BULK_BYTES)
		engine->bulk--;
	wr->done(wr, status);
}

/* RFC 5040 section 5.2: the requested memory must be exposed for reading, within its bounds. */
static enum terminate_reason read_source_check(const struct iwarp_engine *engine,
					       const struct rdmap_read *read,
					       struct fabric_key **out)
{
	struct fabric_key *key = stag_table_find(&engine->keys, read->source_stag);

	if (!key)
		return REASON_READ_STAG;
	if (read->source_to + read->size_bytes < read->source_to)
		return REASON_READ_TO_WRAP;
	if (read->source_to < key->addr || read->size_bytes > key->len_bytes ||
	    read->source_to - key->addr > key->len_bytes - read->size_bytes)
		return REASON_READ_BOUNDS;
	if (!(key->rights & FABRIC_REMOTE_READ))
		return REASON_READ_RIGHTS;
	*out = key;
	return REASON_NONE;
}

enum terminate_reason engine_irrq_add(struct iwarp_engine *engine, const struct rdmap_read *read)
{
	struct fabric_key *key = NULL;
	struct engine_irrq_entry *irrq;

	if (engine->irrq_count >= engine->ird)
		return REASON_NO_BUFFER;
	if (read->size_bytes > 0) {
		enum terminate_reason reason = read_source_check(engine, read, &key);

		if (reason != REASON_NONE)
			return reason;
	}
	irrq = &engine->irrq[(engine->irrq_head + engine->irrq_count) % engine->ird];
	memset(irrq, 0, sizeof(*irrq));
	irrq->read = *read;
	if (key) {
		irrq->key = key;
		irrq->buf = buf_ref(key->buf);
		irrq->mem = key->mem + (read->source_to - key->addr);
	}
	engine->irrq_count++;
	return REASON_NONE;
}

struct engine_irrq_entry *engine_irrq_next(const struct iwarp_engine *engine)
{
	if (engine->irrq_built == engine->irrq_count)
		return NULL;
	return &engine->irrq[(engine->irrq_head + engine->irrq_built) % engine->ird];
}

/* All of the rest; or a multiple of four, because only the last segment may be padded. */
uint32_t engine_irrq_ready(const struct engine_irrq_entry *irrq)
{
	uint32_t left = irrq->read.size_bytes - irrq->offset;
	uint64_t at;

	if (!left)
		return 0;
	at = (uint64_t)(irrq->mem - irrq->key->mem) + irrq->offset;
	if (irrq->key->ready_bytes >= at + left)
		return left;
	return irrq->key->ready_bytes > at ? (uint32_t)(irrq->key->ready_bytes - at) & ~3u : 0;
}

bool iwarp_engine_key_read_waits(const struct iwarp_engine *engine, const struct fabric_key *key)
{
	for (unsigned i = engine->irrq_built; i < engine->irrq_count; i++) {
		const struct engine_irrq_entry *irrq =
			&engine->irrq[(engine->irrq_head + i) % engine->ird];

		if (irrq->key == key &&
		    engine_irrq_ready(irrq) < irrq->read.size_bytes - irrq->offset)
			return true;
	}
	return false;
}

/* Returns true while a Read Response from @key waits or is being sent. */
bool engine_key_busy(const struct iwarp_engine *engine, const struct fabric_key *key)
{
	for (unsigned i = 0; i < engine->irrq_count; i++)
		if (engine->irrq[(engine->irrq_head + i) % engine->ird].key == key)
			return true;
	return false;
}

/* Removes the peer's oldest Read: frees its slot, and its key if that was unbound meanwhile. */
static void irrq_pop(struct iwarp_engine *engine)
{
	struct engine_irrq_entry irrq = engine->irrq[engine->irrq_head];
	struct fabric_key *key;

	engine->irrq_head = (engine->irrq_head + 1) % engine->ird;
	engine->irrq_count--;
	if (engine->irrq_built)
		engine->irrq_built--;
	buf_put(irrq.buf);
	if (!irrq.key || engine_key_busy(engine, irrq.key))
		return;
	TAILQ_FOREACH(key, &engine->unbinding, entry)
		if (key == irrq.key)
			break;
	if (!key)
		return;
	TAILQ_REMOVE(&engine->unbinding, key, entry);
	buf_put(key->buf);
	key->unbound(key);
}

void engine_irrq_sent(struct iwarp_engine *engine)
{
	while (engine->irrq_built > 0 && engine->irrq[engine->irrq_head].end <= engine->tx.sent &&
	       engine->irrq[engine->irrq_head].end <= engine->tx.valid) {
		engine->counters->read_responses_sent++;
		irrq_pop(engine);
	}
}

void engine_irrq_flush(struct iwarp_engine *engine)
{
	while (engine->irrq_count > 0)
		irrq_pop(engine);
}
