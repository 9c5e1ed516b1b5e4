/* SPDX-License-Identifier: BSD-3-Clause */
/* What a check says of what it found: a sentence, and what to do about it. */
#ifndef DAEMON_HEALTH_CHECK_WORDS_H
#define DAEMON_HEALTH_CHECK_WORDS_H

#include "daemon/config/config.h"
#include "daemon/health/check_conn.h"
#include "daemon/health/check_report.h"
#include "daemon/health/probe_call.h"

/** check_words_lost - the step ended without an answer, where connect is @transport://, as @news tells */
void check_words_lost(struct check_step *step, enum check_step_id id, enum transport transport,
		      const struct check_conn_news *news);
/** check_words_fault - the step's Call came back for @fault. */
void check_words_fault(struct check_step *step, enum check_step_id id, enum exchange_fault fault);
/** check_words_refused - the server answered, but did not do what it was asked for. */
void check_words_refused(struct check_step *step, const struct probe_reply *reply);

#endif
