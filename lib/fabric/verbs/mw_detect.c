// SPDX-License-Identifier: BSD-3-Clause
/*
 * Results are kept for the process: librdmacm keeps a device open, but the verbs fabric releases it
 * with its last connection. A device that is removed and added again has another context, or
 * another node GUID at the same address.
 */
#include "fabric/verbs/mw_detect.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define TYPE_2 (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)

struct found {
	LIST_ENTRY(found) entry;
	const struct ibv_context *context;
	uint64_t node_guid;
	int result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, found) found_list = LIST_HEAD_INITIALIZER(found_list);

static int window_try(struct ibv_pd *pd)
{
	struct ibv_mw *mw;

	errno = 0;
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	if (!mw)
		return errno ? -errno : -EOPNOTSUPP;
	ibv_dealloc_mw(mw);
	return 0;
}

int verbs_mw_try(struct ibv_context *context, const struct ibv_device_attr *attr)
{
	struct ibv_pd *pd;
	int result;

	if (!(attr->device_cap_flags & TYPE_2))
		return -ENOSYS;
	errno = 0;
	pd = ibv_alloc_pd(context);
	if (!pd)
		return errno ? -errno : -ENOMEM;
	result = window_try(pd);
	ibv_dealloc_pd(pd);
	return result;
}

/* Returns true if the result can change later. */
static bool is_transient(int result)
{
	return result == -ENOMEM || result == -EAGAIN || result == -EBUSY || result == -ENOSPC ||
	       result == -ETIMEDOUT || result == -EINTR;
}

static void detect_report(const struct ibv_context *context, int result,
			  const struct verbs_config *config)
{
	const char *name = context->device->name;
	char text[VERBS_NOTICE_BYTES];

	if (!config->found)
		return;
	if (!result)
		snprintf(text, sizeof(text),
			 "device %s has memory windows: they expose the memory of each RPC", name);
	else if (result == -ENOSYS)
		snprintf(text, sizeof(text),
			 "device %s reports no memory windows of type 2: the memory of each RPC "
			 "is registered",
			 name);
	else
		snprintf(text, sizeof(text),
			 "device %s reports memory windows and allocates none (%s): the memory of "
			 "each RPC is registered",
			 name, strerror(-result));
	config->found(text);
}

/* Returns a device's entry, a new one with -EINPROGRESS; NULL without memory. */
static struct found *entry_of(const struct ibv_context *context, uint64_t node_guid)
{
	struct found *found;

	LIST_FOREACH(found, &found_list, entry)
		if (found->context == context && found->node_guid == node_guid)
			return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	*found = (struct found){.context = context, .node_guid = node_guid, .result = -EINPROGRESS};
	LIST_INSERT_HEAD(&found_list, found, entry);
	return found;
}

bool verbs_mw_detect(struct ibv_context *context, const struct ibv_device_attr *attr,
		     const struct verbs_config *config)
{
	struct found *found;
	int result, before;

	pthread_mutex_lock(&lock);
	found = entry_of(context, attr->node_guid);
	result = found ? found->result : -EINPROGRESS;
	pthread_mutex_unlock(&lock);
	if (result != -EINPROGRESS && !is_transient(result))
		return !result;
	/*
	 * Without the lock, for which other devices would wait while this one hangs. Two workers
	 * can try it at the same time.
	 */
	result = verbs_mw_try(context, attr);
	pthread_mutex_lock(&lock);
	before = found ? found->result : -EINPROGRESS;
	if (!before)
		result = 0; /* another worker used the last window meanwhile */
	if (found)
		found->result = result;
	pthread_mutex_unlock(&lock);
	if (result != before)
		detect_report(context, result, config);
	return !result;
}
