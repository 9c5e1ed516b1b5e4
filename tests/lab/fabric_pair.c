// SPDX-License-Identifier: BSD-3-Clause
/*
 * fabric_pair FABRIC ADDRESS [sizes TIMES]: tests the promises of fabric.h between two endpoints of
 * one real fabric, in TAP; or that the Receives of two legs can change their sizes there, TIMES
 * times.
 *
 * FABRIC is iwarp or verbs; ADDRESS is a local address that the fabric's device serves. It needs no
 * test framework, so that a laboratory's guest can run a program that was built outside.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"
#include "tests/lab/pair.h"

static struct fabric_listener *listener;

static bool parse_addr(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		addr->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
		addr->ss_family = AF_INET6;
	return addr->ss_family != AF_UNSPEC;
}

/* Two connections of one peer are held apart. */
static struct verbs_config verbs_config = {.setup_timeout_us = 5000000,
					   .pd_scope = VERBS_PD_CONNECTION};
static struct iwarp_config iwarp_config = {
	.crc = true, .fpdu = IWARP_FPDU_64K, .setup_timeout_us = 5000000};

static bool is_verbs(void)
{
	return !strcmp(fabric_name, "verbs");
}

struct fabric *another_fabric(struct loop *its_loop, struct buf_pool *its_pool, unsigned rnr_retry)
{
	struct verbs_config config = verbs_config;

	config.rnr_retry = rnr_retry;
	return is_verbs() ? verbs_fabric_new(its_loop, its_pool, &config)
			  : iwarp_fabric_new(its_loop, its_pool, &iwarp_config);
}

/* Of the kernel's two devices the one that has memory windows is RoCE. */
bool refuses_sends(void)
{
	return is_verbs() && windows;
}

static int make_fabric(const struct sockaddr_storage *addr)
{
	const struct fabric_ops *ops = is_verbs() ? &verbs_fabric_ops : &iwarp_fabric_ops;
	void *config = is_verbs() ? (void *)&verbs_config : (void *)&iwarp_config;

	fabric = client_fabric = another_fabric(loop, pool, 0);
	if (!fabric)
		return -ENODEV;
	return fabric_listen(ops, config, loop, (const struct sockaddr *)addr, 16, on_incoming,
			     NULL, &listener);
}

static void pair_fabric(void)
{
	pair_connections();
	pair_sends();
	pair_keys();
	if (is_verbs())
		pair_probes();
	pair_workers();
}

int main(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct buf_pool_stats stats;
	int err;

	if ((argc != 3 && argc != 5) || !parse_addr(argv[2], &addr) ||
	    (argc == 5 && strcmp(argv[3], "sizes"))) {
		fprintf(stderr, "usage: fabric_pair iwarp|verbs ADDRESS [sizes TIMES]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	loop = event_loop_new();
	pool = buf_pool_new(BULK_BYTES, 8u << 20);
	wait_timer = loop_timer_new(loop, wait_check, NULL);
	fabric_name = argv[1];
	err = make_fabric(&addr);
	if (err) {
		printf("1..0 # SKIP no %s at %s: %s\n", argv[1], argv[2], strerror(-err));
		return 0;
	}
	fabric_listener_addr(listener, &listen_addr);
	if (argc == 5)
		pair_sizes((unsigned)atoi(argv[4]));
	else
		pair_fabric();
	fabric_listener_free(listener);
	for (unsigned i = 0; fabric->ops->counters_table[i].name; i++)
		printf("# %s %llu\n", fabric->ops->counters_table[i].name,
		       (unsigned long long)((uint64_t *)fabric->counters)[i]);
	fabric_free(fabric);
	buf_pool_stats_get(pool, &stats);
	result(stats.in_use_bytes == 0, "gives every buffer back");
	printf("1..%u\n", cases);
	loop_timer_free(loop, wait_timer);
	buf_pool_free(pool);
	event_loop_free(loop);
	return failures != 0;
}
