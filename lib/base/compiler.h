/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiler helpers used everywhere: attributes, container_of, array sizes. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))
/* Seldom called; inlined it would cost its callers registers. */
#define NOT_INLINE                      __attribute__((noinline))
#define PRINTF_LIKE(fmt, va)            __attribute__((format(printf, fmt, va)))

#define ARRAY_SIZE(a)                   (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
