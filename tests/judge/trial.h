/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges a connection from its first bytes, which show what it carries, to its end. */
#ifndef TESTS_JUDGE_TRIAL_H
#define TESTS_JUDGE_TRIAL_H

#include "tests/judge/judge.h"

/** trial_data - A tcp_data_fn; @ctx is the judge. */
tcp_data_fn trial_data;
/**
 * trial_excuse - Judges what followed a wrong CRC of siw, if there was one; call it for all
 * connections before trial_end().
 */
void trial_excuse(struct tcp_conn *conn);
/**
 * trial_end - Judges how a connection ended, or how far it was captured; releases its user member.
 */
void trial_end(struct judge *judge, struct tcp_conn *conn);

#endif
