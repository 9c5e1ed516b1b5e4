// SPDX-License-Identifier: BSD-3-Clause
/* How many connections each client address has. */
#include "daemon/service/client_counts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BITS_MIN 4u
#define BITS_MAX 16u

struct client_count {
	struct client_count *next; /* in its bucket */
	uint32_t words[4];         /* the address; IPv4 as v4-mapped */
	unsigned count;
};

int client_counts_init(struct client_counts *counts, unsigned entries)
{
	unsigned bits = BITS_MIN;

	while (bits < BITS_MAX && 1u << bits < entries)
		bits++;
	*counts = (struct client_counts){.bits = bits};
	counts->buckets = calloc((size_t)1 << bits, sizeof(*counts->buckets));
	if (!counts->buckets)
		return -ENOMEM;
	/* The kernel has random bytes long before a daemon starts. */
	(void)!getrandom(counts->secrets, sizeof(counts->secrets), 0);
	return 0;
}

void client_counts_fini(struct client_counts *counts)
{
	for (size_t i = 0; counts->buckets && i < (size_t)1 << counts->bits; i++) {
		struct client_count *count;

		while ((count = counts->buckets[i])) {
			counts->buckets[i] = count->next;
			free(count);
		}
	}
	free(counts->buckets);
	*counts = (struct client_counts){0};
}

static void words_of(const struct sockaddr *client, uint32_t words[4])
{
	if (client->sa_family == AF_INET6) {
		memcpy(words, &((const struct sockaddr_in6 *)client)->sin6_addr, 16);
	} else {
		words[0] = words[1] = 0;
		words[2] = htonl(0xffff);
		words[3] = ((const struct sockaddr_in *)client)->sin_addr.s_addr;
	}
}

/* Multiply-shift: two addresses share a bucket by chance alone, whoever chose them. */
static struct client_count **bucket_of(const struct client_counts *counts, const uint32_t words[4])
{
	uint64_t sum = counts->secrets[4];

	for (size_t i = 0; i < 4; i++)
		sum += counts->secrets[i] * words[i];
	return &counts->buckets[sum >> (64 - counts->bits)];
}

int client_counts_add(struct client_counts *counts, const struct sockaddr *client, unsigned most,
		      struct client_count **out)
{
	struct client_count **bucket, *count;
	uint32_t words[4];

	words_of(client, words);
	bucket = bucket_of(counts, words);
	for (count = *bucket; count; count = count->next)
		if (!memcmp(count->words, words, sizeof(words)))
			break;
	if (count && count->count >= most)
		return -EDQUOT;
	if (!count) {
		count = calloc(1, sizeof(*count));
		if (!count)
			return -ENOMEM;
		memcpy(count->words, words, sizeof(words));
		count->next = *bucket;
		*bucket = count;
	}
	count->count++;
	*out = count;
	return 0;
}

void client_counts_sub(struct client_counts *counts, struct client_count *count)
{
	struct client_count **at;

	if (--count->count)
		return;
	for (at = bucket_of(counts, count->words); *at != count; at = &(*at)->next)
		;
	*at = count->next;
	free(count);
}

size_t client_counts_entries(const struct client_counts *counts)
{
	size_t sum = 0;

	for (size_t i = 0; i < (size_t)1 << counts->bits; i++)
		for (const struct client_count *count = counts->buckets[i]; count;
		     count = count->next)
			sum++;
	return sum;
}
