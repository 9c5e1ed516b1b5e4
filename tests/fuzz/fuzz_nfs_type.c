// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes the arguments and the results of any procedure or operation. An input is a program, a
 * version and a procedure (or 0, a minor version and an operation; or 1, the same of the callback
 * program) in four bytes each, and the bytes to walk.
 */
#include "nfs/proc_table.h"
#include "tests/fuzz/fuzz.h"

#define HEAD_BYTES 12u

static void check_walk(const struct nfs_field *type, const uint8_t *data, size_t size)
{
	struct nfs_marks marks = {0};
	struct xdr_sg_reader at;

	xdr_sg_reader_init_flat(&at, data, (uint32_t)size);
	if (!nfs_walk(&at, type, &marks))
		return;
	FUZZ_ASSERT(at.pos <= at.end && xdr_sg_offset(&at) <= size && xdr_sg_offset(&at) % 4 == 0);
	if (marks.data_offset) {
		FUZZ_ASSERT(marks.data_offset >= 4 && marks.data_offset <= xdr_sg_offset(&at));
		FUZZ_ASSERT(marks.data_bytes <= xdr_sg_offset(&at) - marks.data_offset);
	}
	FUZZ_ASSERT(marks.attrs_words <= NFS_MARK_ATTRS_WORDS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct nfs_proc *proc;
	uint32_t prog, vers, number;

	if (size < HEAD_BYTES)
		return 0;
	prog = be32_get(data);
	vers = be32_get(data + 4);
	number = be32_get(data + 8);
	proc = prog <= 1 ? nfs_op_find(prog, vers, number) : nfs_proc_find(prog, vers, number);
	if (!proc)
		return 0;
	FUZZ_ASSERT(proc->name && proc->args && proc->results);
	check_walk(proc->args, data + HEAD_BYTES, size - HEAD_BYTES);
	check_walk(proc->results, data + HEAD_BYTES, size - HEAD_BYTES);
	return 0;
}
