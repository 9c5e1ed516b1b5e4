// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counts the copies that a program makes through memcpy() and memmove(): preloaded, it writes one
 * line "big_copies big_bytes" to the file that COPYCOUNT_FILE names when the program exits.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BIG_BYTES 16384 /* copies of more than this are counted */

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *__memcpy_chk(void *restrict to, const void *restrict from, size_t len, size_t room);
void *__memmove_chk(void *to, const void *from, size_t len, size_t room);

static atomic_ulong copies, bytes;

static void count(size_t len)
{
	if (len <= BIG_BYTES)
		return;
	atomic_fetch_add(&copies, 1);
	atomic_fetch_add(&bytes, len);
}

/* The compiler must not make a call of memcpy() out of these loops. */
#if __has_attribute(no_builtin)
#define OWN_LOOPS __attribute__((no_builtin))
#else
#define OWN_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

OWN_LOOPS static void *forth(void *to, const void *from, size_t len)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	while (len--)
		*t++ = *f++;
	return to;
}

OWN_LOOPS static void *back(void *to, const void *from, size_t len)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	while (len--)
		t[len] = f[len];
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	count(len);
	return forth(to, from, len);
}

void *memmove(void *to, const void *from, size_t len)
{
	count(len);
	return (uintptr_t)to < (uintptr_t)from ? forth(to, from, len) : back(to, from, len);
}

void *__memcpy_chk(void *restrict to, const void *restrict from, size_t len, size_t room)
{
	if (len > room)
		abort();
	return memcpy(to, from, len);
}

void *__memmove_chk(void *to, const void *from, size_t len, size_t room)
{
	if (len > room)
		abort();
	return memmove(to, from, len);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("COPYCOUNT_FILE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%lu %lu\n", copies, bytes);
	close(fd);
}
