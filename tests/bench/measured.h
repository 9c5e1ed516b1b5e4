/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by whose names callgrind is told what to count: costs.sh has it collect in replay_counted() alone, and write
 * what it has when replay_row() returns. They are whole functions in any build.
 */
#ifndef TESTS_BENCH_MEASURED_H
#define TESTS_BENCH_MEASURED_H

#if __has_attribute(noipa)
#define MEASURED __attribute__((noinline, noclone, noipa))
#else
#define MEASURED __attribute__((noinline))
#endif

#endif
