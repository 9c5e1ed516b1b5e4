// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes MPA start-up frames, and the payload of a Terminate. */
#include <string.h>

#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/mpa.h"
#include "tests/fuzz/fuzz.h"

static void frame_check(const uint8_t *data, size_t size, bool reply)
{
	uint8_t again[MPA_MAX_FRAME_BYTES];
	struct mpa_frame frame;
	size_t used = 0;

	switch (mpa_frame_decode(data, size, reply, &frame, &used)) {
	case MPA_OK:
		FUZZ_ASSERT(used <= size && used <= sizeof(again));
		FUZZ_ASSERT(frame.private_data >= data && frame.private_data_bytes <= used);
		FUZZ_ASSERT(frame.private_data + frame.private_data_bytes == data + used);
		/* All but reserved bits come back. */
		FUZZ_ASSERT(mpa_frame_encode(&frame, again) == used);
		FUZZ_ASSERT(memcmp(again, data, 16) == 0 && (again[16] & ~data[16]) == 0);
		FUZZ_ASSERT(memcmp(again + 17, data + 17, used - 17) == 0);
		break;
	case MPA_SHORT:
		FUZZ_ASSERT(used > size && used <= MPA_MAX_FRAME_BYTES);
		break;
	case MPA_BAD_KEY:
	case MPA_BAD_LENGTH:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[100];

	frame_check(data, size, false);
	frame_check(data, size, true);
	rdmap_terminate_describe(data, size, text, sizeof(text));
	FUZZ_ASSERT(strlen(text) < sizeof(text));
	return 0;
}
