// SPDX-License-Identifier: BSD-3-Clause
/* Domains, regions and windows of the device in memory. */
#include <errno.h>
#include <stdlib.h>

#include "tests/standin/memory.h"
#include "tests/standin/memory_ops.h"

static LIST_HEAD(, memory_mr) mrs = LIST_HEAD_INITIALIZER(mrs);
static LIST_HEAD(, memory_mw) mws = LIST_HEAD_INITIALIZER(mws);
static uint32_t next_index = 0x10;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct memory_pd *pd;

	if (memory_is_dead(context)) {
		errno = EIO;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	pthread_mutex_lock(&memory_lock);
	pd->pd.context = context;
	memory_left.pds++;
	pthread_mutex_unlock(&memory_lock);
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *ipd)
{
	struct memory_pd *pd = CONTAINER(ipd, struct memory_pd, pd);
	int users;

	if (memory_keeps(pd->pd.context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	users = pd->users;
	if (!users)
		memory_left.pds--;
	pthread_mutex_unlock(&memory_lock);
	if (users) {
		memory_misuse("a domain is freed that %d things are in", users);
		return EBUSY;
	}
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				unsigned access)
{
	struct memory_mr *mr;

	if (memory_is_dead(pd->context)) {
		errno = EIO;
		return NULL;
	}
	if (!len || ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
		     !(access & IBV_ACCESS_LOCAL_WRITE))) {
		errno = EINVAL;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	pthread_mutex_lock(&memory_lock);
	mr->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = len};
	mr->mr.lkey = mr->mr.rkey = next_index++ << 8 | 1;
	mr->access = (int)access;
	LIST_INSERT_HEAD(&mrs, mr, entry);
	CONTAINER(pd, struct memory_pd, pd)->users++;
	memory_left.mrs++;
	pthread_mutex_unlock(&memory_lock);
	return &mr->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *imr)
{
	struct memory_mr *mr = CONTAINER(imr, struct memory_mr, mr);

	if (memory_keeps(mr->mr.context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	if (mr->windows) {
		pthread_mutex_unlock(&memory_lock);
		memory_misuse("a region is deregistered that %d windows are bound to", mr->windows);
		return EBUSY;
	}
	LIST_REMOVE(mr, entry);
	CONTAINER(mr->mr.pd, struct memory_pd, pd)->users--;
	memory_left.mrs--;
	pthread_mutex_unlock(&memory_lock);
	free(mr);
	return 0;
}

struct ibv_mw *memory_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct memory_mw *mw;

	if (memory_is_dead(pd->context)) {
		errno = EIO;
		return NULL;
	}
	mw = calloc(1, sizeof(*mw));
	pthread_mutex_lock(&memory_lock);
	mw->rkey = next_index++ << 8;
	mw->mw = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = mw->rkey, .type = type};
	LIST_INSERT_HEAD(&mws, mw, entry);
	CONTAINER(pd, struct memory_pd, pd)->users++;
	memory_left.mws++;
	pthread_mutex_unlock(&memory_lock);
	return &mw->mw;
}

static void unbind(struct memory_mw *mw)
{
	if (mw->qp)
		mw->mr->windows--;
	mw->qp = NULL;
	mw->mr = NULL;
}

int memory_dealloc_mw(struct ibv_mw *imw)
{
	struct memory_mw *mw = CONTAINER(imw, struct memory_mw, mw);

	if (memory_keeps(mw->mw.context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	unbind(mw);
	LIST_REMOVE(mw, entry);
	CONTAINER(mw->mw.pd, struct memory_pd, pd)->users--;
	memory_left.mws--;
	pthread_mutex_unlock(&memory_lock);
	free(mw);
	return 0;
}

static bool is_within(uint64_t addr, uint64_t len, uint64_t from, uint64_t bytes)
{
	return addr >= from && len <= bytes && addr - from <= bytes - len;
}

static struct memory_mr *find_mr(uint32_t key)
{
	struct memory_mr *mr;

	LIST_FOREACH(mr, &mrs, entry)
		if (mr->mr.lkey == key)
			return mr;
	return NULL;
}

uint8_t *memory_local(const struct memory_qp *qp, const struct ibv_sge *sge, int access)
{
	const struct memory_mr *mr = find_mr(sge->lkey);

	if (!mr || mr->invalid || mr->mr.pd != qp->qp.pd || (mr->access & access) != access ||
	    !is_within(sge->addr, sge->length, (uintptr_t)mr->mr.addr, mr->mr.length))
		return NULL;
	return (uint8_t *)(uintptr_t)sge->addr;
}

uint8_t *memory_remote(const struct memory_qp *qp, uint32_t rkey, uint64_t addr, uint64_t len,
		       int access)
{
	const struct memory_mr *mr = find_mr(rkey);
	const struct memory_mw *mw;
	uint8_t *mem = (uint8_t *)(uintptr_t)addr;

	if (mr)
		return !mr->invalid && mr->mr.pd == qp->qp.pd && (mr->access & access) == access &&
				       is_within(addr, len, (uintptr_t)mr->mr.addr, mr->mr.length)
			       ? mem
			       : NULL;
	LIST_FOREACH(mw, &mws, entry)
		if (mw->qp == qp && mw->rkey == rkey &&
		    (int)(mw->access & (unsigned)access) == access &&
		    is_within(addr, len, mw->addr, mw->len))
			return mem;
	return NULL;
}

/* The device requires a key with the window's current index, and a new key byte. */
enum ibv_wc_status memory_bind(struct memory_qp *qp, const struct ibv_send_wr *wr)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	struct memory_mw *mw = CONTAINER(wr->bind_mw.mw, struct memory_mw, mw);
	struct memory_mr *mr = CONTAINER(info->mr, struct memory_mr, mr);

	if (mw->qp || mw->mw.type != IBV_MW_TYPE_2 || wr->bind_mw.rkey >> 8 != mw->rkey >> 8 ||
	    wr->bind_mw.rkey == mw->rkey)
		return IBV_WC_MW_BIND_ERR;
	if (mw->mw.pd != qp->qp.pd || mr->mr.pd != qp->qp.pd ||
	    !(mr->access & IBV_ACCESS_MW_BIND) || !(mr->access & IBV_ACCESS_LOCAL_WRITE) ||
	    !info->length ||
	    !is_within(info->addr, info->length, (uintptr_t)mr->mr.addr, mr->mr.length))
		return IBV_WC_MW_BIND_ERR;
	mw->qp = qp;
	mw->mr = mr;
	mr->windows++;
	mw->rkey = wr->bind_mw.rkey;
	mw->addr = info->addr;
	mw->len = info->length;
	mw->access = info->mw_access_flags;
	return IBV_WC_SUCCESS;
}

bool memory_invalidate(struct memory_qp *qp, uint32_t rkey)
{
	struct memory_mw *mw;
	struct memory_mr *mr;

	LIST_FOREACH(mw, &mws, entry)
		if (mw->qp == qp && mw->rkey == rkey)
			break;
	if (mw)
		unbind(mw);
	/* As siw, unlike RoCE devices: also invalidates a region registered by a system call. */
	mr = memory_is_iwarp() && !mw ? find_mr(rkey) : NULL;
	if (mr && mr->mr.pd == qp->qp.pd)
		mr->invalid = true;
	return mw || (mr && mr->invalid);
}

void memory_unbind_all(struct memory_qp *qp)
{
	struct memory_mw *mw;

	LIST_FOREACH(mw, &mws, entry)
		if (mw->qp == qp)
			unbind(mw);
}
