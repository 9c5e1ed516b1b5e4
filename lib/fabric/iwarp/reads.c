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

static void probe_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct iwarp_engine *engine = container_of(wr, struct iwarp_engine, probe);

	engine->probe_end = 0;
	engine->probe_deadline = UINT64_MAX;
}

int iwarp_engine_probe(struct iwarp_engine *engine)
{
	if (engine->state != ENGINE_OPEN)
		return -ENOTCONN;
	if (engine->initiator || !engine->ord_agreed || !engine->ord)
		return -EOPNOTSUPP;
	/* A keepalive or a Read is already outstanding; either detects a dead peer. */
	if (engine->reads_posted)
		return 0;
	engine->probe = (struct fabric_wr){.op = FABRIC_READ, .nsge = 1, .done = probe_done};
	engine->probe.sge[0].addr = engine->rx.header; /* any address, for zero bytes */
	engine_read_post(engine, &engine->probe);
	engine->counters->probes_sent++;
	return 0;
}

/* The Read Request is in a batch: the peer may now write to its sink, once and in order. */
void engine_read_built(struct iwarp_engine *engine, struct fabric_wr *wr)
{
	TAILQ_REMOVE(&engine->reads_wait, wr, entry);
	TAILQ_INSERT_TAIL(&engine->reads_out, wr, entry);
	engine->reads_out_count++;
	if (wr == &engine->probe)
		engine->probe_end = engine->tx.built;
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
static enum iwarp_reason source_check(const struct iwarp_engine *engine,
				      const struct rdmap_read *read, struct fabric_key **out)
{
	struct fabric_key *key = iwarp_keys_find(&engine->keys, read->source_stag);

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

enum iwarp_reason engine_irq_add(struct iwarp_engine *engine, const struct rdmap_read *read)
{
	struct fabric_key *key = NULL;
	struct engine_irq *irq;

	if (engine->irq_count >= engine->ird)
		return REASON_NO_BUFFER;
	if (read->size_bytes > 0) {
		enum iwarp_reason reason = source_check(engine, read, &key);

		if (reason != REASON_NONE)
			return reason;
	}
	irq = &engine->irq[(engine->irq_head + engine->irq_count) % engine->ird];
	memset(irq, 0, sizeof(*irq));
	irq->read = *read;
	if (key) {
		irq->key = key;
		irq->buf = buf_ref(key->buf);
		irq->mem = key->mem + (read->source_to - key->addr);
	}
	engine->irq_count++;
	return REASON_NONE;
}

struct engine_irq *engine_irq_next(const struct iwarp_engine *engine)
{
	if (engine->irq_built == engine->irq_count)
		return NULL;
	return &engine->irq[(engine->irq_head + engine->irq_built) % engine->ird];
}

/* All of the rest; or a multiple of four, because only the last segment may be padded. */
uint32_t engine_irq_ready(const struct engine_irq *irq)
{
	uint32_t left = irq->read.size_bytes - irq->offset;
	uint64_t at;

	if (!left)
		return 0;
	at = (uint64_t)(irq->mem - irq->key->mem) + irq->offset;
	if (irq->key->ready_bytes >= at + left)
		return left;
	return irq->key->ready_bytes > at ? (uint32_t)(irq->key->ready_bytes - at) & ~3u : 0;
}

bool iwarp_engine_key_starves(const struct iwarp_engine *engine, const struct fabric_key *key)
{
	for (unsigned i = engine->irq_built; i < engine->irq_count; i++) {
		const struct engine_irq *irq = &engine->irq[(engine->irq_head + i) % engine->ird];

		if (irq->key == key && engine_irq_ready(irq) < irq->read.size_bytes - irq->offset)
			return true;
	}
	return false;
}

/* Returns true while a Read Response from @key waits or is being sent. */
bool engine_key_busy(const struct iwarp_engine *engine, const struct fabric_key *key)
{
	for (unsigned i = 0; i < engine->irq_count; i++)
		if (engine->irq[(engine->irq_head + i) % engine->ird].key == key)
			return true;
	return false;
}

/* Removes the peer's oldest Read: frees its slot, and its key if that was unbound meanwhile. */
static void irq_pop(struct iwarp_engine *engine)
{
	struct engine_irq irq = engine->irq[engine->irq_head];
	struct fabric_key *key;

	engine->irq_head = (engine->irq_head + 1) % engine->ird;
	engine->irq_count--;
	if (engine->irq_built)
		engine->irq_built--;
	buf_put(irq.buf);
	if (!irq.key || engine_key_busy(engine, irq.key))
		return;
	TAILQ_FOREACH(key, &engine->unbinding, entry)
		if (key == irq.key)
			break;
	if (!key)
		return;
	TAILQ_REMOVE(&engine->unbinding, key, entry);
	buf_put(key->buf);
	key->unbound(key);
}

void engine_irq_sent(struct iwarp_engine *engine)
{
	while (engine->irq_built > 0 && engine->irq[engine->irq_head].end <= engine->tx.sent &&
	       engine->irq[engine->irq_head].end <= engine->tx.valid) {
		engine->counters->read_responses_sent++;
		irq_pop(engine);
	}
}

void engine_irq_flush(struct iwarp_engine *engine)
{
	while (engine->irq_count > 0)
		irq_pop(engine);
}
