/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the functions behind the stand-in: those of the libraries, or of the device in memory. */
#ifndef TESTS_STANDIN_LIBS_H
#define TESTS_STANDIN_LIBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#undef ibv_reg_mr
#undef ibv_query_port

/** standin_next - Returns the next function called @name; ends the process if there is none. */
void *standin_next(const char *name);

/** NEXT - Calls the next function of that name; looked up once. */
#define NEXT(name, ...)                                                                            \
	({                                                                                         \
		static typeof(&name) next_;                                                        \
		if (!next_)                                                                        \
			next_ = (typeof(&name))standin_next(#name);                                \
		next_(__VA_ARGS__);                                                                \
	})

#endif
