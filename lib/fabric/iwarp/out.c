// SPDX-License-Identifier: BSD-3-Clause
/* The batch that a connection is sending, taken from the environment and given back when it is empty. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/iwarp/engine_priv.h"

bool engine_batch_get(struct iwarp_engine *engine)
{
	struct iwarp_env *env = engine->env;

	if (engine->tx.batch)
		return true;
	engine->tx.batch = env->spare ? env->spare : malloc(sizeof(*engine->tx.batch));
	env->spare = NULL;
	if (!engine->tx.batch)
		return false;
	iwarp_batch_reset(engine->tx.batch);
	return true;
}

void engine_batch_put(struct iwarp_engine *engine)
{
	if (!engine->tx.batch)
		return;
	free(engine->env->spare);
	engine->env->spare = engine->tx.batch;
	engine->tx.batch = NULL;
}

/* It is sent as it is: no FPDU, and nothing that may not be cut. */
static int bytes_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len)
{
	if (!engine_batch_get(engine))
		return -ENOMEM;
	memcpy(iwarp_batch_glue(engine->tx.batch, len), bytes, len);
	engine->tx.built += len;
	iwarp_batch_frame_end(engine->tx.batch, engine->tx.built - len, engine->tx.built, false);
	return 0;
}

int engine_preface_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes)
{
	return len_bytes ? bytes_send(engine, bytes, len_bytes) : 0;
}

int engine_frame_send(struct iwarp_engine *engine, const struct mpa_frame *frame)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	return bytes_send(engine, bytes, mpa_frame_encode(frame, bytes));
}

void engine_tx_cut(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;

	if (tx->batch)
		tx->built = iwarp_batch_cut(tx->batch, tx->sent);
	tx->valid = tx->built;
	tx->wr = NULL;
}
