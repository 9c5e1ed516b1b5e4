/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has completions come as a device may have them come: later, in another order, or with an error.
 *
 * A completion that is held back makes an event of its own when its time has come. So where such faults are asked for, the
 * descriptor of a completion channel stands for that of the device and for a timer. Of a completion with an error nothing
 * holds but the work request, the status and the queue pair: all else is overwritten.
 */
#ifndef TESTS_STANDIN_COMPLETIONS_H
#define TESTS_STANDIN_COMPLETIONS_H

#include "tests/standin/libs.h"

/** standin_completions_poll - the context's poll_cq. */
int standin_completions_poll(struct ibv_cq *cq, int max, struct ibv_wc *wcs);
/** standin_completions_armed - an event was asked for. */
void standin_completions_armed(struct ibv_cq *cq);
/** standin_completions_cq, _cq_gone - a queue was created; it is about to be destroyed. */
void standin_completions_cq(struct ibv_cq *cq);
void standin_completions_cq_gone(struct ibv_cq *cq);
/** standin_completions_channel, _channel_gone - a channel was created; it is about to be destroyed. */
void standin_completions_channel(struct ibv_comp_channel *channel);
void standin_completions_channel_gone(struct ibv_comp_channel *channel);
/** standin_completions_event - ibv_get_cq_event(). */
int standin_completions_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
/** standin_completions_ack - return how many of @count events the device knows of. */
unsigned standin_completions_ack(struct ibv_cq *cq, unsigned count);

#endif
