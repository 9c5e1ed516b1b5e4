/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delivers completions later, in another order, or with an error, as a device can.
 *
 * A delayed completion raises its own event when it is due. So with such faults the descriptor of a
 * completion channel combines that of the device and a timer. In a completion with an error only
 * the work request, the status and the queue pair are valid: everything else is overwritten.
 */
#ifndef TESTS_STANDIN_COMPLETIONS_H
#define TESTS_STANDIN_COMPLETIONS_H

#include "tests/standin/libs.h"

/** standin_completions_poll - Implements the context's poll_cq. */
int standin_completions_poll(struct ibv_cq *cq, int max, struct ibv_wc *wcs);
/** standin_completions_armed - Records that an event was requested. */
void standin_completions_armed(struct ibv_cq *cq);
/** standin_completions_cq, _cq_gone - Record a new queue; forget one before it is destroyed. */
void standin_completions_cq(struct ibv_cq *cq);
void standin_completions_cq_gone(struct ibv_cq *cq);
/** standin_completions_channel, _channel_gone - The same for a channel. */
void standin_completions_channel(struct ibv_comp_channel *channel);
void standin_completions_channel_gone(struct ibv_comp_channel *channel);
/** standin_completions_event - Implements ibv_get_cq_event(). */
int standin_completions_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
/** standin_completions_ack - Returns how many of @count events come from the device. */
unsigned standin_completions_ack(struct ibv_cq *cq, unsigned count);

#endif
