// SPDX-License-Identifier: BSD-3-Clause
/* Devices are in a table, queue pairs in a list. One lock guards both. */
#include "tests/standin/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "tests/standin/ops.h"

#define DEVICES_MAX   16u
#define RXE_VENDOR_ID 0xffffffu
#define SIW_VENDOR_ID 0x626d74u
#define SIW_GAP_CQES  32768

struct known_qp {
	LIST_ENTRY(known_qp) entry;
	struct ibv_qp *qp;
	bool dead, cut;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct standin_device devices[DEVICES_MAX];
static LIST_HEAD(, known_qp) qps = LIST_HEAD_INITIALIZER(qps);

static struct standin_device *find(const struct ibv_context *context)
{
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		if (devices[i].context == context)
			return &devices[i];
	return NULL;
}

struct standin_device *standin_device_of(const struct ibv_context *context)
{
	struct standin_device *device;

	pthread_mutex_lock(&lock);
	device = find(context);
	pthread_mutex_unlock(&lock);
	return device;
}

/* Returns the device's profile, or NULL. An unknown name ends the process. */
static const struct standin_profile *choose(const struct ibv_context *context)
{
	const char *name = getenv("STANDIN_PROFILE");
	const struct standin_profile *profile = name && *name ? standin_profile_find(name) : NULL;
	bool iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;

	if (name && *name && !profile) {
		fprintf(stderr, "standin: STANDIN_PROFILE: no such profile: %s\n", name);
		_exit(2);
	}
	return profile && (iwarp ? profile->iwarp : profile->roce) ? profile : NULL;
}

void standin_device_opened(struct ibv_context *context)
{
	struct verbs_context *wide = verbs_get_ctx_op(context, query_port);
	struct ibv_device_attr attr = {0};
	struct standin_device *device;

	pthread_mutex_lock(&lock);
	device = find(context);
	if (device) {
		device->opens++;
		pthread_mutex_unlock(&lock);
		return;
	}
	device = find(NULL);
	if (!device) {
		fprintf(stderr, "standin: more than %u devices\n", DEVICES_MAX);
		_exit(2);
	}
	*device = (struct standin_device){
		.context = context, .opens = 1, .ops = context->ops, .profile = choose(context)};
	if (wide)
		device->query_port = wide->query_port;
	pthread_mutex_unlock(&lock);
	NEXT(ibv_query_device, context, &attr);
	device->rxe = device->profile && attr.vendor_id == RXE_VENDOR_ID;
	device->siw = device->profile && attr.vendor_id == SIW_VENDOR_ID;
	if (device->siw)
		device->gap = NEXT(ibv_create_cq, context, SIW_GAP_CQES, NULL, NULL, 0);
	standin_ops_replace(context);
	if (device->profile)
		fprintf(stderr, "standin: device %s stands in for %s\n", context->device->name,
			device->profile->name);
}

void standin_device_closed(struct ibv_context *context)
{
	struct standin_device *device;

	pthread_mutex_lock(&lock);
	device = find(context);
	if (device && --device->opens == 0) {
		if (device->gap)
			NEXT(ibv_destroy_cq, device->gap);
		context->ops = device->ops;
		device->context = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void standin_qp_created(struct ibv_qp *qp)
{
	struct known_qp *known = calloc(1, sizeof(*known));

	known->qp = qp;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&qps, known, entry);
	pthread_mutex_unlock(&lock);
}

static struct known_qp *find_qp(const struct ibv_qp *qp)
{
	struct known_qp *known;

	LIST_FOREACH(known, &qps, entry)
		if (known->qp == qp)
			return known;
	return NULL;
}

static struct known_qp *find_number(const struct ibv_context *context, uint32_t qp_num)
{
	struct known_qp *known;

	LIST_FOREACH(known, &qps, entry)
		if (known->qp->context == context && known->qp->qp_num == qp_num)
			return known;
	return NULL;
}

void standin_qp_destroyed(struct ibv_qp *qp)
{
	struct known_qp *known;

	pthread_mutex_lock(&lock);
	known = find_qp(qp);
	if (known)
		LIST_REMOVE(known, entry);
	pthread_mutex_unlock(&lock);
	free(known);
}

void standin_qp_failed(const struct ibv_context *context, uint32_t qp_num)
{
	struct known_qp *known;

	pthread_mutex_lock(&lock);
	known = find_number(context, qp_num);
	if (known)
		known->dead = true;
	pthread_mutex_unlock(&lock);
}

struct ibv_qp *standin_qp_cut(const struct ibv_context *context, uint32_t qp_num)
{
	struct known_qp *known;

	pthread_mutex_lock(&lock);
	known = find_number(context, qp_num);
	if (known)
		known->cut = true;
	pthread_mutex_unlock(&lock);
	return known ? known->qp : NULL;
}

bool standin_qp_is_cut(const struct ibv_context *context, uint32_t qp_num)
{
	struct known_qp *known;
	bool cut;

	pthread_mutex_lock(&lock);
	known = find_number(context, qp_num);
	cut = known && known->cut;
	pthread_mutex_unlock(&lock);
	return cut;
}

bool standin_qp_is_dead(const struct ibv_qp *qp)
{
	struct known_qp *known;
	bool dead;

	pthread_mutex_lock(&lock);
	known = find_qp(qp);
	dead = known && known->dead;
	pthread_mutex_unlock(&lock);
	return dead;
}
