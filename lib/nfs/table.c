// SPDX-License-Identifier: BSD-3-Clause
/* Finds the row of a procedure. */
#include "nfs/table.h"

static const struct nfs_program *const programs[] = {
	&nfs_program_nfs3,
	&nfs_program_mount1,
	&nfs_program_mount2,
	&nfs_program_mount3,
};

const struct nfs_proc *nfs_proc_find(uint32_t prog, uint32_t vers, uint32_t proc)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct nfs_program *p = programs[i];

		if (p->prog == prog && p->vers == vers)
			return proc < p->count && p->procs[proc].name ? &p->procs[proc] : NULL;
	}
	return NULL;
}
