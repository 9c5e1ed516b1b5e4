/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells AddressSanitizer which memory of a slab is nobody's; without it these cost nothing. */
#ifndef FABRIC_POISON_H
#define FABRIC_POISON_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_BY_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISON_BY_SANITIZER 1
#endif

#ifdef POISON_BY_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/** memory_poison - report every access to @mem from now on. */
static inline void memory_poison(void *mem, size_t len_bytes)
{
#ifdef POISON_BY_SANITIZER
	__asan_poison_memory_region(mem, len_bytes);
#endif
}

/** memory_unpoison - @mem may be used again. */
static inline void memory_unpoison(void *mem, size_t len_bytes)
{
#ifdef POISON_BY_SANITIZER
	__asan_unpoison_memory_region(mem, len_bytes);
#endif
}

#endif
