// SPDX-License-Identifier: BSD-3-Clause
/*
 * Replaces the system's random numbers, so that hash tables and their costs are the same in each
 * run.
 */
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
	memset(to, 0x5a, bytes);
	return (ssize_t)bytes;
}
