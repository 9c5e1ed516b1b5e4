/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler helpers: attributes, container_of, array sizes. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
/* For functions on the path of every RPC that have only a few callers. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline
/* For rarely called functions: inlined, they would cost their callers registers. */
#define NOT_INLINE                      __attribute__((noinline))
#define PRINTF_LIKE(fmt, va)            __attribute__((format(printf, fmt, va)))

#define ARRAY_SIZE(a)                   (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/**
 * clear_bytes - Fills a large object with zeros
 *
 * For a size known at compile time gcc emits string instructions. Up to a few hundred bytes their
 * start-up costs more than memset(); so the size is hidden from gcc.
 */
static inline void clear_bytes(void *at, size_t bytes)
{
	__asm__("" : "+r"(bytes));
	memset(at, 0, bytes);
}

#endif
