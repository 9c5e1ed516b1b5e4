// SPDX-License-Identifier: BSD-3-Clause
/* In the place of the system's random numbers: with it hash tables, and what they cost, are the same in each run. */
#include <string.h>
#include <sys/random.h>

ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
	memset(to, 0x5a, bytes);
	return (ssize_t)bytes;
}
