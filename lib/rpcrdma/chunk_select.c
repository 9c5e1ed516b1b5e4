// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/chunk_select.h"

#include <assert.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"

static uint64_t segments_of(const struct chunk_select_input *input, uint64_t len_bytes)
{
	return len_bytes / input->max_segment_bytes + (len_bytes % input->max_segment_bytes != 0);
}

static uint64_t header_bytes(const struct call_form *form)
{
	uint64_t bytes =
		RPCRDMA_MIN_HDR_BYTES + (uint64_t)form->call.nsegments * RPCRDMA_READ_SEGMENT_BYTES;

	switch (form->placement) {
	case PLACEMENT_NONE:
		break;
	case PLACEMENT_REPLY_CHUNK:
		bytes += RPCRDMA_REPLY_CHUNK_BYTES(form->placement_nsegments);
		break;
	case PLACEMENT_WRITE_CHUNK:
		bytes += RPCRDMA_WRITE_CHUNK_BYTES(form->placement_nsegments);
		break;
	}
	return bytes;
}

static bool reply_fits_inline(const struct chunk_select_input *input)
{
	return RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(input->reply_max_bytes) <=
	       input->limits.recv_bytes;
}

static bool call_fits_inline(const struct chunk_select_input *input, const struct call_form *form)
{
	return header_bytes(form) + input->call_bytes <= input->limits.send_bytes;
}

/*
 * Returns true if the Reply's payload can have a write chunk: the rest fits inline, the buffer is
 * not too large.
 */
static bool result_is_placed(const struct chunk_select_input *input)
{
	uint64_t result = input->result_bytes, recv = input->limits.margin_bytes;
	uint64_t rest = input->reply_bytes > result ? input->reply_bytes - result : 0;
	uint64_t hdr =
		RPCRDMA_MIN_HDR_BYTES + RPCRDMA_WRITE_CHUNK_BYTES(segments_of(input, result));

	return result && result + 2 * recv <= input->max_message_bytes && hdr + rest <= recv;
}

/* Chooses the chunk for the Reply. Returns false if no chunk can hold a possible Reply. */
static bool choose_placement(const struct chunk_select_input *input, struct call_form *form)
{
	uint64_t bytes = xdr_padded_bytes(input->reply_max_bytes);
	uint32_t peer_max = input->peer->chunk_max_bytes;
	uint64_t nsegments;

	if (reply_fits_inline(input))
		return true;
	form->placement = PLACEMENT_REPLY_CHUNK;
	if (result_is_placed(input)) {
		form->placement = PLACEMENT_WRITE_CHUNK;
		bytes = input->result_bytes;
	}
	if (peer_max && bytes > peer_max) {
		form->placement_truncated = true;
		bytes = peer_max;
	}
	nsegments = segments_of(input, bytes);
	if (bytes > UINT32_MAX || nsegments > RPCRDMA_MAX_SEGMENTS)
		return false;
	form->placement_bytes = (uint32_t)bytes;
	form->placement_nsegments = (unsigned)nsegments;
	return true;
}

/*
 * Returns true if the payload lies in the Call, at a valid chunk position (A3.4-1; zero means the
 * whole Call).
 */
static bool is_chunk(const struct chunk_select_input *input)
{
	return input->payload_bytes && input->payload_at &&
	       input->payload_at % XDR_UNIT_BYTES == 0 &&
	       input->payload_at + xdr_padded_bytes(input->payload_bytes) <= input->call_bytes;
}

/*
 * Returns true if the payload becomes a chunk: usually if the Call does not fit inline. A peer with
 * data_in_chunk gets file data in a chunk whenever the payload is longer than the bytes after it,
 * by which the peer recognizes the chunk.
 */
static bool may_use_chunk(const struct chunk_select_input *input, bool fits)
{
	uint64_t end = input->payload_at + xdr_padded_bytes(input->payload_bytes);

	if (!input->peer->data_in_chunk || !input->payload_is_data)
		return !fits;
	return input->payload_bytes > input->call_bytes - end;
}

/*
 * Makes the payload a read chunk if the rest then fits inline; otherwise leaves the form unchanged.
 */
static bool reduce(const struct chunk_select_input *input, struct call_form *form)
{
	struct call_form reduced = *form;
	uint64_t rest = input->call_bytes - xdr_padded_bytes(input->payload_bytes);
	uint64_t nsegments = segments_of(input, input->payload_bytes);

	if (nsegments > RPCRDMA_MAX_SEGMENTS || input->limits.reads_nothing)
		return false;
	reduced.call = (struct msg_form){MESSAGE_FORM_CHUNKED, input->payload_at,
					 input->payload_bytes, (unsigned)nsegments};
	if (header_bytes(&reduced) + rest > input->limits.send_bytes)
		return false;
	*form = reduced;
	return true;
}

/* Makes the whole Call a position-zero read chunk. */
static bool choose_nomsg(const struct chunk_select_input *input, struct call_form *form)
{
	uint64_t nsegments = segments_of(input, input->call_bytes);

	if (!input->peer->position_zero || nsegments > RPCRDMA_MAX_SEGMENTS ||
	    input->limits.reads_nothing)
		return false;
	form->call =
		(struct msg_form){MESSAGE_FORM_LONG, 0, input->call_bytes, (unsigned)nsegments};
	return header_bytes(form) <= input->limits.send_bytes;
}

unsigned chunk_select_needs(const struct chunk_select_input *input)
{
	struct call_form form = call_form_plain();

	if (!input->moves_payloads || input->inline_only)
		return 0;
	if (!(input->known & CHUNK_SELECT_RESULT) && !reply_fits_inline(input))
		return CHUNK_SELECT_RESULT;
	if (input->known & CHUNK_SELECT_PAYLOAD || !choose_placement(input, &form))
		return 0;
	return input->peer->data_in_chunk || !call_fits_inline(input, &form) ? CHUNK_SELECT_PAYLOAD
									     : 0;
}

bool chunk_select_choose(const struct chunk_select_input *input, struct call_form *form)
{
	bool fits;

	*form = call_form_plain();
	if (input->inline_only)
		return call_fits_inline(input, form);
	if (!choose_placement(input, form))
		return false;
	fits = call_fits_inline(input, form);
	if (is_chunk(input) && may_use_chunk(input, fits) && reduce(input, form))
		return true;
	return fits || choose_nomsg(input, form);
}
