// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/recv_sizing.h"

#include <string.h>

#define FIRST_CLASS_BYTES 4096u

void recv_sizing_init(struct recv_sizing *sizing, uint32_t max_bytes, uint64_t now_us)
{
	*sizing = (struct recv_sizing){
		.max_bytes = max_bytes / 1024 * 1024,
		.since_us = now_us,
	};
}

uint32_t recv_sizing_by_chunk(struct recv_sizing *sizing, uint64_t bytes, uint64_t now_us)
{
	uint32_t size = FIRST_CLASS_BYTES;
	unsigned at = 0;

	if (bytes > sizing->max_bytes)
		return 0;
	while (at < RECV_SIZING_CLASSES && bytes > size) {
		at++;
		size *= 2;
	}
	if (at == RECV_SIZING_CLASSES)
		return 0;
	if (now_us - sizing->since_us > RECV_SIZING_US) {
		memset(sizing->by_chunk, 0, sizeof(sizing->by_chunk));
		sizing->since_us = now_us;
	}
	if (++sizing->by_chunk[at] % RECV_SIZING_OFTEN != 0)
		return 0;
	return size < sizing->max_bytes ? size : sizing->max_bytes;
}

void conn_sizes_note(struct conn_sizes *sizes, uint64_t call_bytes, uint64_t reply_bytes,
		     const struct rpc_limits *limits, uint64_t now_us)
{
	uint32_t wanted;

	if (call_bytes) {
		wanted = recv_sizing_by_chunk(&sizes->calls, call_bytes, now_us);
		if (wanted > limits->send_bytes)
			sizes->wanted_there_bytes = wanted;
	}
	if (reply_bytes) {
		wanted = recv_sizing_by_chunk(&sizes->replies, reply_bytes, now_us);
		if (wanted > limits->recv_bytes)
			sizes->wanted_here_bytes = wanted;
	}
}
