/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the open devices and their queue pairs, with the profile that answers for each.
 *
 * A kernel device behind the stand-in (rxe, siw) differs from hardware in ways that the proxy
 * handles by the vendor ID, which the profile hides. The stand-in corrects these differences
 * itself:
 *
 *	rxe  checks a window against the region below it: each bound window gets an exact region
 *	rxe  reports a remote invalidation with the kernel's flag
 *	siw  completes unsignalled work before it is sent: each work request is signalled
 *	siw  takes a queue mapped at 0x90000 for a failed mapping: another queue occupies that place
 */
#ifndef TESTS_STANDIN_DEVICE_H
#define TESTS_STANDIN_DEVICE_H

#include "tests/standin/libs.h"
#include "tests/standin/profile.h"

struct standin_device {
	struct ibv_context *context;
	struct ibv_context_ops ops; /* the real device's operations */
	int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			  size_t len);
	const struct standin_profile *profile; /* NULL: answers as the device does */
	unsigned opens;
	bool rxe, siw; /* kind of the device behind the stand-in */
	struct ibv_cq *gap;
};

/** standin_device_opened - Replaces the functions of @context by the stand-in's. */
void standin_device_opened(struct ibv_context *context);
/** standin_device_closed - Restores and forgets @context. */
void standin_device_closed(struct ibv_context *context);
/** standin_device_of - Returns the entry of an open device, or NULL. */
struct standin_device *standin_device_of(const struct ibv_context *context);

/** standin_qp_created, standin_qp_destroyed - Record and forget a queue pair. */
void standin_qp_created(struct ibv_qp *qp);
void standin_qp_destroyed(struct ibv_qp *qp);
/** standin_qp_failed - Records that the queue pair with this number on the device is in error. */
void standin_qp_failed(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_cut - Records that a fault failed this queue pair; returns it, or NULL. */
struct ibv_qp *standin_qp_cut(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_is_cut - Returns true if a fault failed the queue pair. */
bool standin_qp_is_cut(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_is_dead - Returns true if the queue pair is in error. */
bool standin_qp_is_dead(const struct ibv_qp *qp);

#endif
