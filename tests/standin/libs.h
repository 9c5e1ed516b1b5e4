/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what stands behind the stand-in: the libraries' functions, or those of the devices in memory. */
#ifndef TESTS_STANDIN_LIBS_H
#define TESTS_STANDIN_LIBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#undef ibv_reg_mr
#undef ibv_query_port

/** standin_next - return the function @name of what stands behind; ends the process if there is none. */
void *standin_next(const char *name);

/** NEXT - call a function of what stands behind; looked up once. */
#define NEXT(name, ...)                                                                            \
	({                                                                                         \
		static typeof(&name) next_;                                                        \
		if (!next_)                                                                        \
			next_ = (typeof(&name))standin_next(#name);                                \
		next_(__VA_ARGS__);                                                                \
	})

#endif
