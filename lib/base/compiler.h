/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler helpers used everywhere: attributes, container_of, array sizes. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
/* On the way of each RPC, and from a place or two besides. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline
/* Seldom called; inlined it would cost its callers registers. */
#define NOT_INLINE                      __attribute__((noinline))
#define PRINTF_LIKE(fmt, va)            __attribute__((format(printf, fmt, va)))

#define ARRAY_SIZE(a)                   (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/**
 * clear_bytes - fill what is large with zeros
 *
 * Of a size that it knows gcc makes string instructions, which take longer to begin than memset() takes for some hundred bytes.
 */
static inline void clear_bytes(void *at, size_t bytes)
{
	__asm__("" : "+r"(bytes));
	memset(at, 0, bytes);
}

#endif
