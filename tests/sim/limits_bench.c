// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/limits_bench.h"

#include "tests/lib/test.h"

struct bench *bench;
uint32_t xid;

void start(unsigned max_connections, enum transport listens_on)
{
	bench = bench_new(NULL);
	bench->config.listen.transport = listens_on;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->config.max_connections = max_connections;
	bench->stub_server = true;
}

void teardown(void)
{
	if (bench)
		bench_end(bench);
	bench = NULL;
}

void expect(unsigned half_open, unsigned active, unsigned held)
{
	struct conn_limits_counts counts;

	conn_limits_counts_get(&bench->service.limits, &counts);
	ck_assert_uint_eq(counts.half_open, half_open);
	ck_assert_uint_eq(counts.active, active);
	ck_assert_uint_eq(counts.tarpit, held);
}

bool is_tcp(void)
{
	return bench->config.listen.transport == TRANSPORT_TCP;
}

void ask(struct stub *client)
{
	if (is_tcp())
		bench_client_call(bench, client, ++xid);
	else
		client->config.events->requested(client->config.arg);
}

void request(struct stub *client)
{
	ask(client);
	bench_run(bench, 1);
}

struct stub *server_of(const struct stub *client)
{
	for (unsigned i = 0; i < bench->nstubs; i++)
		if (bench->stubs[i] == client)
			return bench->stubs[i + 1];
	return NULL;
}

struct stub *open_client(void)
{
	struct stub *client = bench_incoming(bench), *server;

	request(client);
	server = server_of(client);
	server->config.events->opened(server->config.arg);
	ck_assert(client->accepted);
	if (!is_tcp())
		client->config.events->opened(client->config.arg);
	return client;
}

void give_call(struct stub *client)
{
	bench_stub_call(bench, client, ++xid);
}

void end(struct stub *client, struct stub *server)
{
	stub_fail(client, LEG_CLOSE_PEER, "");
	if (server)
		stub_fail(server, LEG_CLOSE_PEER, "");
	bench_run(bench, 1);
}
