/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injects faults into verbs, by verb and by count.
 *
 * STANDIN_FAULTS lists them, separated by blanks, each as VERB:FROM[-TO]=ANSWER. It gives the
 * answer to the calls FROM to TO of that verb in this process, counted from 1 ("3-" means the third
 * and all later ones).
 *
 *	post_send:3=EINVAL      fails with that errno; -EINVAL with the wrong sign
 *	poll_cq:3=EIO           fails, and the completion is lost; only calls that find one count
 *	post_send:3=full, =dead fails as in the profile's driver when full, or on a dead queue pair
 *	create_qp:1-2=wait-500  takes that many milliseconds longer, and succeeds
 *	create_qp:1=hang        returns once the file named by STANDIN_RELEASE exists, and succeeds
 *	post_send:40=remove     first removes the device (in memory only) as the profile's driver does;
 *	                        it comes back once the file named by STANDIN_RELEASE exists
 *	post_send:40=fatal      the same, but the connection manager reports the removal only just
 *	                        before the device comes back
 *	completion:7=status-9   a completion has that enum ibv_wc_status; its queue pair fails
 *	completion:7-=hold-50   delays a completion and those after it by that many milliseconds
 *	completion:7-=swap-50   the same, but completions of receives pass those of other work
 *
 * Each injected fault is reported on standard error in a line "standin: VERB CALL: ANSWER".
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
 * standin_fault - Counts a call of @verb, and returns its answer.
 *
 * Waits before it returns, if that is the fault. Reports a call that hangs when it starts to hang.
 */
struct standin_answer standin_fault(enum standin_verb verb);
/**
 * standin_fault_errno - Like standin_fault(), for a verb that only fails or succeeds: returns the
 * errno, or 0.
 */
int standin_fault_errno(enum standin_verb verb);
/** standin_faults_of - Returns true if STANDIN_FAULTS has any fault of @verb. */
bool standin_faults_of(enum standin_verb verb);

#endif
