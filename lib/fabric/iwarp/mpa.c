// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/mpa.h"
#include "base/be_bytes.h"

#include <assert.h>
#include <string.h>

static void enhanced_decode(const uint8_t *at, struct mpa_frame *frame)
{
	uint16_t ird = be16_get(at), ord = be16_get(at + 2);

	frame->enhanced = true;
	frame->peer_to_peer = ird & MPA_IRD_PEER_TO_PEER;
	frame->rtr_send = ird & MPA_IRD_RTR_SEND;
	frame->rtr_write = ord & MPA_ORD_RTR_WRITE;
	frame->rtr_read = ord & MPA_ORD_RTR_READ;
	frame->ird = ird & MPA_DEPTH_MASK;
	frame->ord = ord & MPA_DEPTH_MASK;
}

enum mpa_verdict mpa_frame_decode(const uint8_t *bytes, size_t len_bytes, bool reply,
				  struct mpa_frame *frame, size_t *used_bytes)
{
	const char *key = reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST;
	size_t check = len_bytes < MPA_KEY_BYTES ? len_bytes : MPA_KEY_BYTES;
	size_t length, total;
	uint8_t flags;
	bool enhanced;

	/* Reject garbage at its first wrong byte instead of waiting for a timeout. */
	if (memcmp(bytes, key, check) != 0)
		return MPA_BAD_KEY;
	*used_bytes = MPA_HEADER_BYTES;
	if (len_bytes < MPA_HEADER_BYTES)
		return MPA_SHORT;
	flags = bytes[MPA_KEY_BYTES];
	length = be16_get(bytes + 18);
	enhanced = (flags & MPA_FLAG_ENHANCED) && bytes[17] >= 2;
	if (length > MPA_MAX_PRIVATE_DATA || (enhanced && length < MPA_ENHANCED_BYTES))
		return MPA_BAD_LENGTH;
	total = MPA_HEADER_BYTES + length;
	*used_bytes = total;
	if (len_bytes < total)
		return MPA_SHORT;

	memset(frame, 0, sizeof(*frame));
	frame->reply = reply;
	frame->revision = bytes[17];
	frame->markers = flags & MPA_FLAG_MARKERS;
	frame->crc = flags & MPA_FLAG_CRC;
	frame->reject = flags & MPA_FLAG_REJECT;
	frame->private_data = bytes + MPA_HEADER_BYTES;
	frame->private_data_bytes = length;
	if (enhanced) {
		enhanced_decode(frame->private_data, frame);
		frame->private_data += MPA_ENHANCED_BYTES;
		frame->private_data_bytes -= MPA_ENHANCED_BYTES;
	}
	return MPA_OK;
}

size_t mpa_frame_encode(const struct mpa_frame *frame, uint8_t *out)
{
	size_t length = frame->private_data_bytes + (frame->enhanced ? MPA_ENHANCED_BYTES : 0);
	uint8_t *at = out + MPA_HEADER_BYTES;

	assert(length <= MPA_MAX_PRIVATE_DATA);
	memcpy(out, frame->reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST, MPA_KEY_BYTES);
	out[16] =
		(uint8_t)((frame->markers ? MPA_FLAG_MARKERS : 0) |
			  (frame->crc ? MPA_FLAG_CRC : 0) | (frame->reject ? MPA_FLAG_REJECT : 0) |
			  (frame->enhanced ? MPA_FLAG_ENHANCED : 0));
	out[17] = frame->revision;
	be16_put(out + 18, (uint16_t)length);
	if (frame->enhanced) {
		be16_put(at, (uint16_t)((frame->peer_to_peer ? MPA_IRD_PEER_TO_PEER : 0) |
					(frame->rtr_send ? MPA_IRD_RTR_SEND : 0) |
					(frame->ird & MPA_DEPTH_MASK)));
		be16_put(at + 2, (uint16_t)((frame->rtr_write ? MPA_ORD_RTR_WRITE : 0) |
					    (frame->rtr_read ? MPA_ORD_RTR_READ : 0) |
					    (frame->ord & MPA_DEPTH_MASK)));
		at += MPA_ENHANCED_BYTES;
	}
	if (frame->private_data_bytes)
		memcpy(at, frame->private_data, frame->private_data_bytes);
	return MPA_HEADER_BYTES + length;
}
