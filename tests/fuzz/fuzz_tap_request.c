// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes the filter of a tap: each text is refused with a reason, or is within its limits. */
#include <string.h>

#include "daemon/tap/tap_request.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_BYTES 600u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_BYTES + 1], error[TAP_ERROR_BYTES] = "";
	struct tap_request request;
	enum tap_kind kind;

	if (!size || size > TEXT_BYTES)
		return 0;
	kind = data[0] & 1 ? TAP_CALLS : TAP_MESSAGES;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (tap_request_parse(kind, text, &request, error)) {
		FUZZ_ASSERT(error[0] && strlen(error) < sizeof(error));
		return 0;
	}
	FUZZ_ASSERT(strlen(request.service) <= CONFIG_NAME_MAX_BYTES);
	FUZZ_ASSERT(request.operation <= NFS_OPERATION_COUNT);
	FUZZ_ASSERT(request.slower_us <= UINT32_MAX && request.count <= TAP_COUNT_LIMIT);
	FUZZ_ASSERT(request.seconds <= TAP_SECONDS_LIMIT);
	FUZZ_ASSERT(request.max_bytes <= TAP_MAX_BYTES_LIMIT);
	if (kind == TAP_MESSAGES)
		FUZZ_ASSERT(request.snap_bytes >= TAP_SNAP_MIN_BYTES &&
			    request.snap_bytes <= TAP_SNAP_MAX_BYTES);
	return 0;
}
