/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracepoints (USDT) for bpftrace, SystemTap and gdb, of provider rpcrdma_proxy. rpcrdma-proxy(8) describes their names
 * and arguments.
 *
 * A tracepoint is a nop and a note where its arguments are, so arguments that are in memory or registers cost nothing. If
 * an argument is expensive, check PROBE_IS_ON() first. This needs a file that defines _SDT_HAS_SEMAPHORES before it
 * includes this header, has a PROBE_SEMAPHORE() and contains no other tracepoint.
 */
#ifndef BASE_PROBES_H
#define BASE_PROBES_H

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

#define PROBE3(name, a, b, c)          DTRACE_PROBE3(rpcrdma_proxy, name, a, b, c)
#define PROBE4(name, a, b, c, d)       DTRACE_PROBE4(rpcrdma_proxy, name, a, b, c, d)
#define PROBE6(name, a, b, c, d, e, f) DTRACE_PROBE6(rpcrdma_proxy, name, a, b, c, d, e, f)
/* The kernel counts the users of the tracepoint here. */
#define PROBE_SEMAPHORE(name)                                                                      \
	__extension__ volatile unsigned short rpcrdma_proxy_##name##_semaphore                     \
		__attribute__((section(".probes")))
#define PROBE_IS_ON(name) (rpcrdma_proxy_##name##_semaphore != 0)
#else
#define PROBE3(name, a, b, c)          ((void)(a), (void)(b), (void)(c))
#define PROBE4(name, a, b, c, d)       ((void)(a), (void)(b), (void)(c), (void)(d))
#define PROBE6(name, a, b, c, d, e, f) (PROBE3(name, a, b, c), PROBE3(name, d, e, f))
#define PROBE_SEMAPHORE(name)          _Static_assert(1, "")
#define PROBE_IS_ON(name)              0
#endif

#endif
