/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injects faults into verbs, by verb and by count.
 *
 * STANDIN_FAULTS holds them, separated by blanks, each as VERB:FROM[-TO]=ANSWER: the calls FROM to TO of that verb in this
 * process, counted from 1 ("3-" is the third and all that follow), are answered so.
 *
 *	post_send:3=EINVAL         fails with that errno; -EINVAL with the wrong sign
 *	poll_cq:3=EIO              fails, and the completion is lost; only calls that find one count
 *	post_send:3=full, =dead    fails as the profile's driver does without room, or on a queue pair in error
 *	create_qp:1-2=wait-500     takes so many milliseconds longer, and succeeds
 *	create_qp:1=hang           comes back once the file that STANDIN_RELEASE names is there, and succeeds
 *	post_send:40=remove        the device (in memory alone) is removed as with the profile's driver, before the call is carried
 *	                           out, and is back once the file that STANDIN_RELEASE names is there
 *	post_send:40=fatal         the same, but the connection manager tells of the removal only just before the device is back
 *	completion:7=status-9      a completion has that status (enum ibv_wc_status), and its queue pair fails
 *	completion:7-=hold-50      a completion is seen so many milliseconds later, and those behind it
 *	completion:7-=swap-50      the same, but those of receives pass those of other work requests
 *
 * Standard error says which fault was injected, in a line "standin: VERB CALL: ANSWER".
 */
#ifndef TESTS_STANDIN_FAULT_H
#define TESTS_STANDIN_FAULT_H

#include <stdbool.h>

#define STANDIN_VERBS(X)                                                                           \
	X(open_device)                                                                             \
	X(query_device)                                                                            \
	X(query_port)                                                                              \
	X(alloc_pd)                                                                                \
	X(reg_mr)                                                                                  \
	X(dereg_mr)                                                                                \
	X(alloc_mw)                                                                                \
	X(create_comp_channel)                                                                     \
	X(create_cq)                                                                               \
	X(destroy_cq)                                                                              \
	X(req_notify_cq)                                                                           \
	X(poll_cq)                                                                                 \
	X(completion)                                                                              \
	X(create_qp)                                                                               \
	X(modify_qp)                                                                               \
	X(destroy_qp)                                                                              \
	X(post_send)                                                                               \
	X(post_recv)                                                                               \
	X(create_event_channel)                                                                    \
	X(create_id)                                                                               \
	X(destroy_id)                                                                              \
	X(migrate_id)                                                                              \
	X(bind_addr)                                                                               \
	X(listen)                                                                                  \
	X(resolve_addr)                                                                            \
	X(resolve_route)                                                                           \
	X(init_qp_attr)                                                                            \
	X(connect)                                                                                 \
	X(accept)                                                                                  \
	X(establish)                                                                               \
	X(disconnect)

#define STANDIN_VERB(name) STANDIN_##name,
enum standin_verb { STANDIN_VERBS(STANDIN_VERB) STANDIN_NVERBS };
#undef STANDIN_VERB

enum standin_answer_kind {
	STANDIN_AS_EVER,
	STANDIN_ERRNO,
	STANDIN_FULL,
	STANDIN_DEAD,
	STANDIN_STATUS,
	STANDIN_HOLD,
	STANDIN_SWAP,
};

struct standin_answer {
	enum standin_answer_kind kind;
	int value; /* the errno, the status, or milliseconds */
};

/**
 * standin_fault - count a call of @verb, and say how it is to be answered
 *
 * Waits before it returns, if that is the fault. A call that hangs is told of when it begins to.
 */
struct standin_answer standin_fault(enum standin_verb verb);
/** standin_fault_errno - the same for a verb that can only fail or succeed: returns the errno, or 0. */
int standin_fault_errno(enum standin_verb verb);
/** standin_faults_of - return true if any fault of @verb was asked for. */
bool standin_faults_of(enum standin_verb verb);

#endif
