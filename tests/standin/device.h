/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the devices that are open and their queue pairs, with the profile that answers for each.
 *
 * A device of the kernel that stands in (rxe, siw) behaves otherwise than hardware in ways that the proxy knows by its
 * vendor, which the profile hides. The stand-in makes up for those itself:
 *
 *	rxe  a window is held to the bounds of the region behind it: each bound window has one of exact bounds
 *	rxe  the flag of a completion for a remote invalidation is that of the kernel
 *	siw  what is not signalled it completes before it is sent, and does not copy: each work request is signalled
 *	siw  a queue that is mapped at 0x90000 counts as none: something lies there
 */
#ifndef TESTS_STANDIN_DEVICE_H
#define TESTS_STANDIN_DEVICE_H

#include "tests/standin/libs.h"
#include "tests/standin/profile.h"

struct standin_device {
	struct ibv_context *context;
	struct ibv_context_ops ops; /* those behind the stand-in */
	int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			  size_t len);
	const struct standin_profile *profile; /* NULL: as the device is */
	unsigned opens;
	bool rxe, siw; /* that stands in */
	struct ibv_cq *gap;
};

/** standin_device_opened - take over @context: its functions are the stand-in's from now on. */
void standin_device_opened(struct ibv_context *context);
/** standin_device_closed - forget @context. */
void standin_device_closed(struct ibv_context *context);
/** standin_device_of - return what is known of an open device. */
struct standin_device *standin_device_of(const struct ibv_context *context);

/** standin_qp_created, standin_qp_destroyed - remember a queue pair, and forget it. */
void standin_qp_created(struct ibv_qp *qp);
void standin_qp_destroyed(struct ibv_qp *qp);
/** standin_qp_failed - the queue pair with this number on the device is in error. */
void standin_qp_failed(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_cut - a fault fails the queue pair with this number: return it, or NULL. */
struct ibv_qp *standin_qp_cut(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_is_cut - return true once a fault has failed it. */
bool standin_qp_is_cut(const struct ibv_context *context, uint32_t qp_num);
/** standin_qp_is_dead - return true once it failed. */
bool standin_qp_is_dead(const struct ibv_qp *qp);

#endif
