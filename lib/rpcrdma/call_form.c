// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/call_form.h"

#include <assert.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"

static uint64_t segments_of(const struct call_form_ask *ask, uint64_t len_bytes)
{
	return len_bytes / ask->max_segment_bytes + (len_bytes % ask->max_segment_bytes != 0);
}

static uint64_t header_bytes(const struct call_form *form)
{
	uint64_t bytes =
		RPCRDMA_MIN_HDR_BYTES + (uint64_t)form->call.nsegments * RPCRDMA_READ_SEGMENT_BYTES;

	switch (form->landing) {
	case LANDING_NONE:
		break;
	case LANDING_REPLY_CHUNK:
		bytes += RPCRDMA_REPLY_CHUNK_BYTES(form->landing_nsegments);
		break;
	case LANDING_WRITE_CHUNK:
		bytes += RPCRDMA_WRITE_CHUNK_BYTES(form->landing_nsegments);
		break;
	}
	return bytes;
}

static bool reply_fits_inline(const struct call_form_ask *ask)
{
	return RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(ask->reply_max_bytes) <=
	       ask->terms.recv_bytes;
}

static bool call_fits_inline(const struct call_form_ask *ask, const struct call_form *form)
{
	return header_bytes(form) + ask->call_bytes <= ask->terms.send_bytes;
}

/* Returns true if the Reply's payload can have a write chunk: the rest fits inline, the buffer is not too large. */
static bool result_lands(const struct call_form_ask *ask)
{
	uint64_t result = ask->result_bytes, recv = ask->terms.around_bytes;
	uint64_t rest = ask->reply_bytes > result ? ask->reply_bytes - result : 0;
	uint64_t hdr = RPCRDMA_MIN_HDR_BYTES + RPCRDMA_WRITE_CHUNK_BYTES(segments_of(ask, result));

	return result && result + 2 * recv <= ask->max_message_bytes && hdr + rest <= recv;
}

/* Chooses the chunk for the Reply. Returns false if no chunk can hold a possible Reply. */
static bool choose_landing(const struct call_form_ask *ask, struct call_form *form)
{
	uint64_t bytes = xdr_padded_bytes(ask->reply_max_bytes);
	uint32_t peer_max = ask->peer->landing_max_bytes;
	uint64_t nsegments;

	if (reply_fits_inline(ask))
		return true;
	form->landing = LANDING_REPLY_CHUNK;
	if (result_lands(ask)) {
		form->landing = LANDING_WRITE_CHUNK;
		bytes = ask->result_bytes;
	}
	if (peer_max && bytes > peer_max) {
		form->landing_cut = true;
		bytes = peer_max;
	}
	nsegments = segments_of(ask, bytes);
	if (bytes > UINT32_MAX || nsegments > RPCRDMA_MAX_SEGMENTS)
		return false;
	form->landing_bytes = (uint32_t)bytes;
	form->landing_nsegments = (unsigned)nsegments;
	return true;
}

/* Returns true if the payload lies in the Call, at a valid chunk position (A3.4-1; zero means the whole Call). */
static bool is_chunk(const struct call_form_ask *ask)
{
	return ask->payload_bytes && ask->payload_at && ask->payload_at % XDR_UNIT_BYTES == 0 &&
	       ask->payload_at + xdr_padded_bytes(ask->payload_bytes) <= ask->call_bytes;
}

/*
 * Returns true if the payload becomes a chunk: usually if the Call does not fit inline. A peer with data_apart gets
 * file data in a chunk whenever the payload is longer than the bytes after it, by which the peer recognizes the chunk.
 */
static bool may_part(const struct call_form_ask *ask, bool fits)
{
	uint64_t end = ask->payload_at + xdr_padded_bytes(ask->payload_bytes);

	if (!ask->peer->data_apart || !ask->payload_is_data)
		return !fits;
	return ask->payload_bytes > ask->call_bytes - end;
}

/* Makes the payload a read chunk if the rest then fits inline; otherwise leaves the form unchanged. */
static bool reduce(const struct call_form_ask *ask, struct call_form *form)
{
	struct call_form reduced = *form;
	uint64_t rest = ask->call_bytes - xdr_padded_bytes(ask->payload_bytes);
	uint64_t nsegments = segments_of(ask, ask->payload_bytes);

	if (nsegments > RPCRDMA_MAX_SEGMENTS || ask->terms.reads_nothing)
		return false;
	reduced.call = (struct msg_form){MESSAGE_FORM_CHUNKED, ask->payload_at, ask->payload_bytes,
					 (unsigned)nsegments};
	if (header_bytes(&reduced) + rest > ask->terms.send_bytes)
		return false;
	*form = reduced;
	return true;
}

/* Makes the whole Call a position-zero read chunk. */
static bool choose_nomsg(const struct call_form_ask *ask, struct call_form *form)
{
	uint64_t nsegments = segments_of(ask, ask->call_bytes);

	if (!ask->peer->position_zero || nsegments > RPCRDMA_MAX_SEGMENTS ||
	    ask->terms.reads_nothing)
		return false;
	form->call = (struct msg_form){MESSAGE_FORM_LONG, 0, ask->call_bytes, (unsigned)nsegments};
	return header_bytes(form) <= ask->terms.send_bytes;
}

unsigned call_form_needs(const struct call_form_ask *ask)
{
	struct call_form form = call_form_plain();

	if (!ask->moves_payloads || ask->inline_only)
		return 0;
	if (!(ask->known & CALL_FORM_RESULT) && !reply_fits_inline(ask))
		return CALL_FORM_RESULT;
	if (ask->known & CALL_FORM_PAYLOAD || !choose_landing(ask, &form))
		return 0;
	return ask->peer->data_apart || !call_fits_inline(ask, &form) ? CALL_FORM_PAYLOAD : 0;
}

bool call_form_choose(const struct call_form_ask *ask, struct call_form *form)
{
	bool fits;

	*form = call_form_plain();
	if (ask->inline_only)
		return call_fits_inline(ask, form);
	if (!choose_landing(ask, form))
		return false;
	fits = call_fits_inline(ask, form);
	if (is_chunk(ask) && may_part(ask, fits) && reduce(ask, form))
		return true;
	return fits || choose_nomsg(ask, form);
}
