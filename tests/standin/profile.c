// SPDX-License-Identifier: BSD-3-Clause
/* Each profile names the driver functions from which its answers come. */
#include "tests/standin/profile.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WINDOW_1     IBV_DEVICE_MEM_WINDOW
#define WINDOW_2B    (IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B)
#define SENDS_INV    IBV_DEVICE_MEM_MGT_EXTENSIONS

static const struct standin_profile profiles[] = {
	/* mlx5_ib_query_device(); mlx5_calc_send_wqe() limits the size of a work request */
	{
		.name = "mlx5",
		.roce = true,
		.vendor_id = 0x02c9,
		.part_id = 4123,
		.cap_flags = WINDOW_2B | SENDS_INV,
		.max_mw = 1 << 24,
		.max_sge = 30,
		.max_qp_wr = 32768,
		.max_cqe = 4194303,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.max_inline = 956,
		.inlines = STANDIN_INLINE_REFUSED,
		.disassociates = true,
		.full_answer = ENOMEM,
		.max_msg_bytes = 1u << 30,
	},
	/* mlx4_ib_query_device() sets no max_mw, yet mlx4_ib_alloc_mw() allocates windows */
	{
		.name = "mlx4",
		.roce = true,
		.vendor_id = 0x02c9,
		.part_id = 4099,
		.cap_flags = WINDOW_2B | SENDS_INV,
		.max_mw = 0,
		.max_sge = 32,
		.max_qp_wr = 16351,
		.max_cqe = 4194303,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 128,
		.max_inline = 1024,
		.inlines = STANDIN_INLINE_REFUSED,
		.disassociates = true,
		.full_answer = ENOMEM,
		.max_msg_bytes = 1u << 30,
	},
	/*
	 * irdma_query_device(), second generation: reports windows of type 1, yet irdma_alloc_mw()
	 * allocates those of type 2, too; irdma_ucreate_qp() refuses more inline data than
	 * IRDMA_MAX_INLINE_DATA_SIZE
	 */
	{
		.name = "irdma",
		.roce = true,
		.iwarp = true,
		.vendor_id = 0x8086,
		.part_id = 0x1593,
		.cap_flags = WINDOW_1 | SENDS_INV,
		.max_mw = 2097150,
		.max_sge = 13,
		.max_qp_wr = 4063,
		.max_cqe = 1048574,
		.max_qp_rd_atom = 127,
		.max_qp_init_rd_atom = 255,
		.max_inline = 101,
		.inlines = STANDIN_INLINE_REFUSED,
		.disassociates = true,
		.full_answer = ENOMEM,
		.max_msg_bytes = 2147483647,
	},
	/* bnxt_re_query_device() reports windows of type 2B; libbnxt_re has no alloc_mw */
	{
		.name = "bnxt_re",
		.roce = true,
		.vendor_id = 0x14e4,
		.part_id = 0x1750,
		.cap_flags = WINDOW_2B | SENDS_INV,
		.max_mw = 65536,
		.alloc_mw_errno = EOPNOTSUPP,
		.max_sge = 6,
		.max_qp_wr = 65407,
		.max_cqe = 8388607,
		.max_qp_rd_atom = 126,
		.max_qp_init_rd_atom = 126,
		.max_inline = 96,
		.inlines = STANDIN_INLINE_REFUSED,
		.full_answer = ENOMEM,
		.max_msg_bytes = 1u << 30,
	},
	/*
	 * hns_roce_query_device() and libhns (since June 2025) have no windows;
	 * get_max_inline_data()
	 */
	{
		.name = "hns",
		.roce = true,
		.vendor_id = 0x19e5,
		.part_id = 0xa226,
		.cap_flags = SENDS_INV,
		.alloc_mw_errno = EOPNOTSUPP,
		.max_sge = 64,
		.max_qp_wr = 0x8000,
		.max_cqe = 0x400000,
		.max_qp_rd_atom = 128,
		.max_qp_init_rd_atom = 128,
		.max_inline = 1024,
		.inlines = STANDIN_INLINE_CLAMPED,
		.disassociates = true,
		.full_answer = ENOMEM,
		.max_msg_bytes = 1u << 31,
	},
	/* c4iw_query_device(); no alloc_mw; c4iw_post_send() with the wrong sign on a dead queue */
	{
		.name = "cxgb4",
		.iwarp = true,
		.vendor_id = 0x1425,
		.part_id = 0x6401,
		.cap_flags = WINDOW_1 | SENDS_INV,
		.alloc_mw_errno = EOPNOTSUPP,
		.max_sge = 4,
		.max_qp_wr = 1935,
		.max_cqe = 65534,
		.max_qp_rd_atom = 32,
		.max_qp_init_rd_atom = 32,
		.max_inline = 280,
		.inlines = STANDIN_INLINE_RETURNED,
		.full_answer = -ENOMEM,
		.dead_answer = -EINVAL,
		.max_msg_bytes = UINT32_MAX,
	},
	/*
	 * qedr_query_device() reports no windows; max_mw and the other numbers are those of
	 * qed_rdma_init_devinfo(); libqedr has no alloc_mw; qelr_can_post_send() and
	 * qelr_post_recv() answer with the wrong sign when full
	 */
	{
		.name = "qedr",
		.roce = true,
		.iwarp = true,
		.vendor_id = 0x1077,
		.part_id = 0x8070,
		.cap_flags = SENDS_INV,
		.alloc_mw_errno = EOPNOTSUPP,
		.max_sge = 4,
		.max_qp_wr = 32767,
		.max_cqe = 8388480,
		.max_qp_rd_atom = 32,
		.max_qp_init_rd_atom = 32,
		.max_inline = 256,
		.inlines = STANDIN_INLINE_REFUSED,
		.full_answer = -ENOMEM,
		.max_msg_bytes = 1u << 31,
	},
};

const struct standin_profile *standin_profile_at(unsigned i)
{
	return i < COUNT(profiles) ? &profiles[i] : NULL;
}

const struct standin_profile *standin_profile_find(const char *name)
{
	for (unsigned i = 0; i < COUNT(profiles); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}
