// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes PROXY headers: an accepted header is the same once sent, and in any pieces. */
#include <netinet/in.h>

#include "base/sockaddr.h"
#include "stream/proxy_protocol.h"
#include "tests/fuzz/fuzz.h"

static void check_sent(const struct proxy_header *header)
{
	uint8_t *sent = malloc(PROXY_HEADER_SENT_BYTES);
	struct proxy_header again;
	size_t len, used;

	FUZZ_ASSERT(sent);
	len = proxy_header_encode(header, sent);
	FUZZ_ASSERT(len <= PROXY_HEADER_SENT_BYTES);
	FUZZ_ASSERT(proxy_header_decode(sent, len, &again, &used) == PROXY_HEADER_OK);
	FUZZ_ASSERT(used == len && again.named == header->named);
	if (header->named)
		FUZZ_ASSERT(sockaddr_equal((const struct sockaddr *)&again.source,
					   (const struct sockaddr *)&header->source) &&
			    sockaddr_equal((const struct sockaddr *)&again.destination,
					   (const struct sockaddr *)&header->destination));
	free(sent);
}

/*
 * However much of it has come, it was waited for; and what was waited for is no longer than it may
 * be.
 */
static void check_cuts(const uint8_t *data, size_t whole)
{
	struct proxy_header header;
	size_t used;

	for (size_t cut = 0; cut < whole; cut++)
		FUZZ_ASSERT(proxy_header_decode(data, cut, &header, &used) == PROXY_HEADER_MORE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proxy_header header;
	size_t used = 0;

	switch (proxy_header_decode(data, size, &header, &used)) {
	case PROXY_HEADER_OK:
		FUZZ_ASSERT(used > 0 && used <= size && used <= PROXY_HEADER_MAX_BYTES);
		check_cuts(data, used);
		check_sent(&header);
		break;
	case PROXY_HEADER_MORE:
		FUZZ_ASSERT(size < PROXY_HEADER_MAX_BYTES);
		check_cuts(data, size);
		break;
	default:
		break;
	}
	return 0;
}
