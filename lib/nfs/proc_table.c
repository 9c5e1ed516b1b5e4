// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/proc_table.h"

static const struct nfs_program *const programs[] = {
	&nfs_program_nfs3,      &nfs_program_nfs4,      &nfs_program_nfs2,
	&nfs_program_nfsacl3,   &nfs_program_nfsacl2,   &nfs_program_mount1,
	&nfs_program_mount2,    &nfs_program_mount3,    &nfs_program_nlm1,
	&nfs_program_nlm3,      &nfs_program_nlm4,      &nfs_program_nsm1,
	&nfs_program_rpcbind2,  &nfs_program_rpcbind3,  &nfs_program_rpcbind4,
	&nfs_program_callback1, &nfs_program_callback4,
};

static const struct nfs_ops *const ops[2][3] = {
	{&nfs_ops_40, &nfs_ops_41, &nfs_ops_42},
	{&nfs_cb_ops_40, &nfs_cb_ops_41, &nfs_cb_ops_42},
};

/* OP_ILLEGAL and OP_CB_ILLEGAL. */
static const struct nfs_field illegal_res[] = {X_STATUS(nfs_void, nfs_void), X_END};
static const struct nfs_proc illegal = NFS_PROC("ILLEGAL", nfs_void, illegal_res, 4, NOT, NONE);

const struct nfs_program *nfs_program_find(uint32_t prog, uint32_t vers)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (programs[i]->prog == prog && programs[i]->vers == vers)
			return programs[i];
	return NULL;
}

const char *nfs_program_name(uint32_t prog)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (programs[i]->prog == prog)
			return programs[i]->name;
	return NULL;
}

const struct nfs_proc *nfs_program_proc(const struct nfs_program *program, uint32_t proc)
{
	return proc < program->count && program->procs[proc].name ? &program->procs[proc] : NULL;
}

const struct nfs_proc *nfs_proc_find(uint32_t prog, uint32_t vers, uint32_t proc)
{
	const struct nfs_program *program = nfs_program_find(prog, vers);

	return program ? nfs_program_proc(program, proc) : NULL;
}

const struct nfs_proc *nfs_op_find(bool callback, uint32_t minor_version, uint32_t op)
{
	if (minor_version >= ARRAY_SIZE(ops[callback]))
		return NULL;
	for (uint32_t i = 0; i <= minor_version; i++) {
		const struct nfs_ops *table = ops[callback][i];

		if (op >= table->first && op - table->first < table->count)
			return &table->ops[op - table->first];
	}
	return op == NFS_OP_ILLEGAL ? &illegal : NULL;
}
