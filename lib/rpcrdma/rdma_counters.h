/* SPDX-License-Identifier: BSD-3-Clause */
/* What RDMA legs count. */
#ifndef RPCRDMA_RDMA_COUNTERS_H
#define RPCRDMA_RDMA_COUNTERS_H

#include "base/counter.h"
#include "rpc/call_verdict.h"

#define RDMA_LEG_COUNTERS(X)                                                                       \
	X(connect_failures, "attempts to reach an address of a server that failed")                \
	X(source_port_retries, "source ports that were taken when they were wanted")               \
	X(calls_sent, "Calls sent")                                                                \
	X(calls_received, "Calls received and decoded")                                            \
	X(replies_sent, "Replies sent")                                                            \
	X(replies_received, "Replies received and matched")                                        \
	X(sends_msg, "RDMA_MSG sent")                                                              \
	X(sends_nomsg, "RDMA_NOMSG sent")                                                          \
	X(read_chunk_bytes_pulled, "bytes pulled from the peer by RDMA Read")                      \
	X(write_chunk_bytes_pushed, "bytes written into the peer's write chunks")                  \
	X(reply_chunk_bytes_pushed, "bytes written into the peer's reply chunks")                  \
	X(call_chunk_bytes_offered, "bytes of Calls offered as read chunks")                       \
	X(reply_chunk_bytes_taken, "bytes of Replies that came in reply chunks")                   \
	X(write_chunk_bytes_taken, "bytes of Replies that came in write chunks")                   \
	X(remote_invalidations_sent, "Sends with Invalidate sent")                                 \
	X(remote_invalidations_received, "Sends with Invalidate received")                         \
	X(credit_waits, "Calls that had to wait for a credit")                                     \
	X(credit_zero_received, "grants of zero, taken as one")                                    \
	X(err_vers_sent, "ERR_VERS sent")                                                          \
	X(err_vers_received, "ERR_VERS received")                                                  \
	X(err_chunk_sent, "ERR_CHUNK sent")                                                        \
	X(err_chunk_received, "ERR_CHUNK received")                                                \
	X(err_unknown_received, "RDMA_ERROR with an unknown code received")                        \
	X(drained_calls, "Calls that came while the leg drained, not taken")                       \
	X(short_discarded, "Sends too short for their kind, discarded")                            \
	X(bad_replies, "Replies that did not decode or broke the protocol")                        \
	X(unmatched_replies, "Replies without a Call")                                             \
	X(xid_mismatches, "rdma_xid not the XID of the RPC message")                               \
	X(replies_too_big, "Replies larger than the peer's chunks, answered ERR_CHUNK")            \
	X(replies_over_limit, "Replies larger than their Calls allow, thrown away")                \
	X(reverse_refused, "reverse Calls past their limits, answered SYSTEM_ERR")                 \
	X(payloads_not_found, "Replies with write chunks that could not be reduced")               \
	X(calls_too_big, "Calls over max_message_bytes, answered ERR_CHUNK")                       \
	X(calls_not_sendable, "Calls that could not be sent in any form, failed")                  \
	X(landings_cut, "Calls whose Reply was offered less room than it could need")              \
	X(memory_waits, "Calls that had to wait for memory")                                       \
	X(null_calls_sent, "NULL Calls of ours, which ask a silent server whether it is there")    \
	X(null_calls_answered, "of these, those that it answered")                                 \
	X(null_calls_unanswered, "connections closed since it answered none")                      \
	X(dones_ignored, "RDMA_DONE received, which release nothing")                              \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(private_data_defaults, "connections whose peer sent no usable private data")
COUNTER_STRUCT(rdma_leg_counters, RDMA_LEG_COUNTERS);

#endif
