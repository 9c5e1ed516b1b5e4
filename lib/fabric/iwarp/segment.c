// SPDX-License-Identifier: BSD-3-Clause
/* TCP's segment size, and when to ask for it. */
#include "fabric/iwarp/segment.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define FIRST_BYTES 32768u
#define LAST_BYTES  1048576u

void iwarp_segment_init(struct iwarp_segment *segment)
{
	*segment = (struct iwarp_segment){0};
}

void iwarp_segment_sent(struct iwarp_segment *segment, size_t len_bytes)
{
	segment->sent_bytes += len_bytes;
}

bool iwarp_segment_changed(struct iwarp_segment *segment, int fd)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (segment->sent_bytes < segment->every_bytes)
		return false;
	segment->sent_bytes = 0;
	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) == 0 && mss > 0 &&
	    mss != segment->mss_bytes) {
		segment->mss_bytes = mss;
		segment->every_bytes = FIRST_BYTES;
		return true;
	}
	if (segment->every_bytes < LAST_BYTES)
		segment->every_bytes =
			segment->every_bytes ? segment->every_bytes * 2 : FIRST_BYTES;
	return false;
}
