/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracepoints (USDT) for bpftrace, SystemTap and gdb, of provider rpcrdma_proxy. rpcrdma-proxy(8)
 * describes their names and arguments.
 *
 * A tracepoint is a nop, and an ELF note with the places of its arguments: these cost nothing if
 * they are in memory or registers. If an argument is expensive, check USDT_IS_ENABLED() first. Do
 * that in a file that defines _SDT_HAS_SEMAPHORES before it includes this header, has a
 * USDT_SEMAPHORE() and contains no other tracepoint.
 */
#ifndef BASE_USDT_H
#define BASE_USDT_H

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

#define USDT3(name, a, b, c)          DTRACE_PROBE3(rpcrdma_proxy, name, a, b, c)
#define USDT4(name, a, b, c, d)       DTRACE_PROBE4(rpcrdma_proxy, name, a, b, c, d)
#define USDT6(name, a, b, c, d, e, f) DTRACE_PROBE6(rpcrdma_proxy, name, a, b, c, d, e, f)
/* The kernel counts the users of the tracepoint here. */
#define USDT_SEMAPHORE(name)                                                                       \
	__extension__ volatile unsigned short rpcrdma_proxy_##name##_semaphore                     \
		__attribute__((section(".probes")))
#define USDT_IS_ENABLED(name) (rpcrdma_proxy_##name##_semaphore != 0)
#else
#define USDT3(name, a, b, c)          ((void)(a), (void)(b), (void)(c))
#define USDT4(name, a, b, c, d)       ((void)(a), (void)(b), (void)(c), (void)(d))
#define USDT6(name, a, b, c, d, e, f) (USDT3(name, a, b, c), USDT3(name, d, e, f))
#define USDT_SEMAPHORE(name)          _Static_assert(1, "")
#define USDT_IS_ENABLED(name)         0
#endif

#endif
