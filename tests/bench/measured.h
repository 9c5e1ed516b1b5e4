/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions whose names control callgrind: for costs.sh it collects costs in replay_counted() only,
 * and writes them when replay_row() returns. They are never inlined, in any build.
 */
#ifndef TESTS_BENCH_MEASURED_H
#define TESTS_BENCH_MEASURED_H

#if __has_attribute(noipa)
#define MEASURED __attribute__((noinline, noclone, noipa))
#else
#define MEASURED __attribute__((noinline))
#endif

#endif
