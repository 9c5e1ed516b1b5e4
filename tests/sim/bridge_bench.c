// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/bridge_bench.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "tests/lib/fake_loop.h"
#include "tests/sim/rig.h"

#define BUDGET_BYTES (64u * 1024u * 1024u)

/*
 * The resolver is a table of functions without an argument: it serves the one bench that there is.
 */
static struct bench *the_bench;

struct sockaddr_storage bench_addr(unsigned i)
{
	struct sockaddr_storage addr = {.ss_family = AF_INET};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_addr.s_addr = htonl(0x0a000001 + i);
	in->sin_port = htons(20049);
	return addr;
}

/* ---- the ends ---- */

static void on_opened(void *arg)
{
	((struct bench_end *)arg)->opened++;
}

static void on_requested(void *arg)
{
	leg_accept(((struct bench_end *)arg)->leg);
}

static void on_call(void *arg, struct exchange *x)
{
	struct bench_end *end = arg;
	uint32_t len = be32_get(x->call.data + x->call_info.hdr.args_offset);

	end->calls++;
	RIG_ASSERT(rpc_msg_get(end->bench->pool, len, &x->reply) == 0);
	rig_fill_reply(x->reply.data, len, x->call_info.hdr.xid);
	leg_reply(end->leg, x);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct bench_end *end = arg;
	uint32_t len = be32_get(x->call.data + x->call_info.hdr.args_offset);
	uint8_t *want = malloc(len);

	TAILQ_REMOVE(&end->waiting, x, origin_entry);
	rig_fill_reply(want, len, x->call_info.hdr.xid);
	if (x->fault != EXCHANGE_OK || len != x->reply.len_bytes ||
	    memcmp(want, x->reply.data, len))
		end->wrong++;
	else
		end->answered++;
	free(want);
	exchange_put(x);
	exchange_put(x);
}

static void on_call_ready(void *arg)
{
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	((struct bench_end *)arg)->why = why;
}

static void on_closed(void *arg)
{
	struct bench_end *end = arg;
	struct exchange *x;

	end->closed++;
	while ((x = TAILQ_FIRST(&end->waiting))) {
		TAILQ_REMOVE(&end->waiting, x, origin_entry);
		exchange_put(x);
	}
	leg_free(end->leg);
	end->leg = NULL;
}

static const struct leg_events end_events = {
	.opened = on_opened,
	.requested = on_requested,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
};

static void end_init(struct bench *bench, struct bench_end *end, struct test_budget *budget)
{
	end->bench = bench;
	TAILQ_INIT(&end->waiting);
	end->config = (struct rdma_leg_config){
		.leg =
			{
				.loop = bench->loop,
				.pool = bench->pool,
				.holder = &budget->holder,
				.max_message_bytes = RIG_MAX_MSG,
				.stall_timeout_us = 60 * 1000000,
				.connect_timeout_us = 30 * 1000000,
				.events = &end_events,
				.arg = end,
			},
		.credits = 32,
		.inline_threshold_bytes = 4096,
		.remote_invalidation = true,
		.strict_chunks = true,
		.counters = &end->counters,
	};
}

void bench_call(struct bench_end *end, uint32_t call_bytes, uint32_t reply_bytes)
{
	struct exchange *x = exchange_new(NULL);
	uint32_t xid = end->bench->next_xid++;

	RIG_ASSERT(rpc_msg_get(end->bench->pool, call_bytes, &x->call) == 0);
	rig_fill_call(x->call.data, call_bytes, xid, reply_bytes);
	RIG_ASSERT(rpc_call_decode(x->call.data, call_bytes, &x->call_info.hdr) == RPC_OK);
	nfs_call_walk_whole(&x->call_info, end->config.leg.max_message_bytes, NULL, x->call.data,
			    call_bytes);
	x->reply_max_bytes = reply_bytes;
	budget_claim_empty(end->config.leg.holder, &x->claim);
	TAILQ_INSERT_TAIL(&end->waiting, x, origin_entry);
	leg_call(end->leg, exchange_ref(x));
}

/* ---- stub legs ---- */

static struct stub *stub_of(const struct leg *leg)
{
	return container_of((struct leg *)leg, struct stub, leg);
}

static void stub_accept(struct leg *leg)
{
	stub_of(leg)->accepted = true;
}

static bool stub_can_call(const struct leg *leg)
{
	return stub_of(leg)->calls == 0;
}

static void stub_call(struct leg *leg, struct exchange *x)
{
	struct stub *stub = stub_of(leg);

	stub->calls++;
	exchange_put(stub->last_call);
	stub->last_call = x;
}

static void stub_reply(struct leg *leg, struct exchange *x)
{
	stub_of(leg)->replies++;
	exchange_put(x);
}

static void stub_more(struct leg *leg, struct exchange *x)
{
	stub_of(leg)->more_events++;
}

static void stub_pause(struct leg *leg, bool paused)
{
	stub_of(leg)->pauses += paused ? 1 : 0x100;
}

static void stub_close(struct leg *leg, enum leg_close why)
{
	struct stub *stub = stub_of(leg);

	stub->close_calls++;
	stub->closed_for = why;
}

static void stub_hear_end(struct leg *leg)
{
	struct stub *stub = stub_of(leg);

	stub->end_looks++;
	if (stub->hears)
		loop_defer(stub->config.loop, stub->hears);
}

static void stub_info(const struct leg *leg, struct leg_info *info)
{
	*info = (struct leg_info){.kind = "stub",
				  .state = "stub",
				  .local = stub_of(leg)->local,
				  .tls = stub_of(leg)->tls,
				  .bytes_sent = stub_of(leg)->bytes_sent,
				  .tls_answer_bytes = stub_of(leg)->tls_answer_bytes,
				  .bytes_received = stub_of(leg)->bytes_received};
}

static void stub_free(struct leg *leg)
{
	RIG_ASSERT(!stub_of(leg)->freed);
	stub_of(leg)->freed = true;
}

static const struct leg_ops stub_ops = {
	.accept = stub_accept,
	.can_call = stub_can_call,
	.call = stub_call,
	.reply = stub_reply,
	.more = stub_more,
	.pause = stub_pause,
	.close = stub_close,
	.check_peer_close = stub_hear_end,
	.info = stub_info,
	.free = stub_free,
};

static uint64_t stub_sent_bytes(const struct leg *leg)
{
	return stub_of(leg)->bytes_sent;
}

static uint64_t stub_taken_bytes(const struct leg *leg)
{
	return stub_of(leg)->bytes_taken;
}

void stub_tells_taken(struct stub *stub)
{
	static struct leg_ops ops;

	ops = stub_ops;
	ops.sent_bytes = ops.left_bytes = stub_sent_bytes;
	ops.acked_bytes = stub_taken_bytes;
	stub->leg.ops = &ops;
}

static struct stub *stub_new(struct bench *bench, const struct leg_config *config)
{
	struct stub *stub = calloc(1, sizeof(*stub));

	RIG_ASSERT(stub && bench->nstubs < BENCH_STUBS_MAX);
	stub->leg.ops = &stub_ops;
	stub->config = *config;
	stub->leg.config = &stub->config;
	bench->stubs[bench->nstubs++] = stub;
	return stub;
}

struct stub *bench_stub(struct bench *bench, unsigned i)
{
	RIG_ASSERT(i < bench->nstubs);
	return bench->stubs[i];
}

void stub_closing(struct stub *stub, enum leg_close why, const char *detail)
{
	RIG_ASSERT(!stub->closing);
	stub->closing = true;
	stub->config.events->closing(stub->config.arg, why, detail);
}

void stub_over(struct stub *stub)
{
	RIG_ASSERT(stub->closing && !stub->freed);
	exchange_put(stub->last_call);
	stub->last_call = NULL;
	stub->config.events->closed(stub->config.arg);
}

void stub_fail(struct stub *stub, enum leg_close why, const char *detail)
{
	stub_closing(stub, why, detail);
	stub_over(stub);
}

/* ---- what the bridge stands on ---- */

struct bench_query {
	struct loop_task task;
	struct resolver_answer *answer;
	void (*done)(void *arg);
	void *arg;
	bool of_second;
};

static void resolve(void *arg)
{
	struct bench *bench = arg;
	struct bench_query *query = bench->query;

	bench->query = NULL;
	*query->answer = (struct resolver_answer){.naddrs = bench->naddrs};
	memcpy(query->answer->addrs, bench->addrs, bench->naddrs * sizeof(bench->addrs[0]));
	if (query->of_second) {
		query->answer->naddrs = 1;
		query->answer->addrs[0] = bench_addr(BENCH_SECOND);
	} else if (!bench->naddrs) {
		query->answer->error = "Name or service not known";
		query->answer->is_final = true;
	}
	query->done(query->arg);
	free(query);
}

static int resolver_begin(const char *host, const char *port, struct resolver_answer *answer,
			  void (*done)(void *arg), void *arg)
{
	struct bench *bench = the_bench;

	if (bench->resolver_fails)
		return -EAGAIN;
	RIG_ASSERT(!bench->query && !strcmp(port, "20049"));
	RIG_ASSERT(!strcmp(host, "server") || !strcmp(host, "second"));
	bench->query = calloc(1, sizeof(*bench->query));
	RIG_ASSERT(bench->query);
	*bench->query = (struct bench_query){
		.answer = answer, .done = done, .arg = arg, .of_second = !strcmp(host, "second")};
	loop_task_init(&bench->query->task, resolve, bench);
	if (!bench->resolver_silent)
		loop_defer(bench->loop, &bench->query->task);
	return 0;
}

static void on_name_answered(void *arg)
{
	worker_service_names_woken(&((struct bench *)arg)->ws);
}

static const struct resolver bench_resolver = {.start = resolver_begin};

static int make_client(struct service_net *net, const struct leg_config *config,
		       const struct accepted_conn *in, struct leg **out)
{
	struct bench *bench = container_of(net, struct bench, ws.net);
	struct rdma_leg_config rdma = bench->client.config;

	if (bench->stub_client) {
		*out = &stub_new(bench, config)->leg;
		return 0;
	}
	rdma.leg = *config;
	rdma.counters = &net->rdma;
	return rdma_leg_adopt(&rdma, bench->front_fabric, in->fabric, out);
}

static int make_server(struct service_net *net, const struct leg_config *config,
		       const struct connect_attempt *attempt, struct leg **out)
{
	struct bench *bench = container_of(net, struct bench, ws.net);
	struct stub *stub;

	if (bench->connect_fails) {
		bench->connect_fails--;
		return bench->connect_error ? bench->connect_error : -EAFNOSUPPORT;
	}
	if (!bench->stub_server)
		return leg_factory_system.connect(net, config, attempt, out);
	stub = stub_new(bench, config);
	stub->attempt = *attempt;
	*out = &stub->leg;
	return 0;
}

static const struct leg_factory_ops bench_legs = {.accept = make_client, .connect = make_server};

static void on_bridge_gone(void *arg, struct worker_service *ws)
{
	((struct bench *)arg)->bridges_gone++;
}

void bench_resolve(struct bench *bench)
{
	loop_defer(bench->loop, &bench->query->task);
}

/* What the service is made from has changed. */
static void make_service_again(struct bench *bench)
{
	RIG_ASSERT(service_init(&bench->service, &bench->config) == 0);
	RIG_ASSERT(worker_service_add_backends(&bench->ws) == 0);
}

void bench_connect_by(struct bench *bench, enum transport transport)
{
	bench->config.connect.transport = transport;
	bench->service.servers.list[0].uri.transport = transport;
}

static void end_service(struct bench *bench)
{
	worker_service_free_backends(&bench->ws);
	service_fini(&bench->service);
}

void bench_add_server(struct bench *bench)
{
	static char host[] = "second", port[] = "20049";
	static struct config_uri second;

	end_service(bench);
	second = (struct config_uri){bench->config.connect.transport, host, port};
	bench->config.more_servers = &second;
	bench->config.nmore_servers = 1;
	bench->config.connect_timeout_s = 2;
	make_service_again(bench);
}

void bench_add_mount(struct bench *bench)
{
	static char host[] = "server", port[] = "20049";

	end_service(bench);
	bench->config.mount =
		(struct config_mount){.way = MOUNT_AT, .at = {TRANSPORT_TCP, host, port}};
	make_service_again(bench);
}

/* ---- connections ---- */

/* All from one address if the test does not say otherwise, each from a port of its own. */
static struct accepted_conn next_client(struct bench *bench, struct fabric_incoming *fabric)
{
	struct accepted_conn in = {
		.fd = -1, .fabric = fabric, .peer = bench_addr(bench->client_addr)};

	if (fabric)
		in.local = fabric->local;
	((struct sockaddr_in *)&in.peer)->sin_port =
		htons(bench->client_port ? bench->client_port : 20001 + bench->bridges_made);
	return in;
}

static void come(struct bench *bench, struct fabric_incoming *fabric)
{
	struct accepted_conn in = next_client(bench, fabric);
	enum leg_close why;

	in.slot =
		conn_limits_add(&bench->service.limits, &bench->ws.thread,
				(const struct sockaddr *)&in.peer, loop_now_us(bench->loop), &why);
	RIG_ASSERT(in.slot);
	RIG_ASSERT(bridge_new(&bench->ws, &in, ++bench->bridges_made) == 0);
}

static void on_front_incoming(void *arg, struct fabric_incoming *fabric)
{
	come(arg, fabric);
}

static void server_adopt(struct bench *bench, struct fabric *fabric, struct fabric_incoming *in,
			 bool refuse)
{
	if (refuse)
		fabric_incoming_drop(in);
	else
		RIG_ASSERT(rdma_leg_adopt(&bench->server.config, fabric, in, &bench->server.leg) ==
			   0);
}

static void on_back_incoming(void *arg, struct fabric_incoming *in)
{
	struct bench *bench = arg;

	bench->on_back++;
	server_adopt(bench, bench->server_fabric, in, bench->server_refuses);
}

static void on_verbs_incoming(void *arg, struct fabric_incoming *in)
{
	struct bench *bench = arg;

	bench->on_verbs++;
	server_adopt(bench, bench->server_verbs, in, bench->verbs_refuses);
}

void bench_connect(struct bench *bench)
{
	const struct sockaddr_storage addr = bench_addr(0);

	bench->client.closed = 0;
	RIG_ASSERT(rdma_leg_connect(&bench->client.config, bench->client_fabric,
				    (const struct sockaddr *)&addr, &bench->client.leg) == 0);
}

void bench_open(struct bench *bench)
{
	bench_connect(bench);
	bench_run(bench, 100);
	RIG_ASSERT(bench->client.opened == 1 && bench->server.opened == 1);
	RIG_ASSERT(!strcmp(bench_state(bench), "open"));
}

struct stub *bench_incoming(struct bench *bench)
{
	bench->stub_client = true;
	come(bench, NULL);
	return bench->stubs[bench->nstubs - 1];
}

void bench_stub_call(struct bench *bench, struct stub *stub, uint32_t xid)
{
	struct exchange *x = exchange_new(NULL);

	RIG_ASSERT(rpc_msg_get(bench->pool, RIG_CALL_MIN, &x->call) == 0);
	rig_fill_call(x->call.data, RIG_CALL_MIN, xid, 100);
	RIG_ASSERT(rpc_call_decode(x->call.data, RIG_CALL_MIN, &x->call_info.hdr) == RPC_OK);
	x->start_us = loop_now_us(bench->loop);
	stub->config.events->call(stub->config.arg, x);
}

void bench_client_call(struct bench *bench, struct stub *client, uint32_t xid)
{
	client->config.events->requested(client->config.arg);
	RIG_ASSERT(client->accepted);
	client->config.events->opened(client->config.arg);
	bench_stub_call(bench, client, xid);
}

void bench_run(struct bench *bench, unsigned ms)
{
	fake_loop_advance(bench->loop, (uint64_t)ms * 1000);
}

struct bridge *bench_bridge(struct bench *bench)
{
	return bridge_next(&bench->ws, NULL);
}

const char *bench_state(struct bench *bench)
{
	struct bridge *bridge = bench_bridge(bench);
	struct bridge_info info;

	if (!bridge)
		return "gone";
	bridge_info_get(bridge, &info);
	return info.state;
}

uint64_t bench_closes(const struct bench *bench)
{
	uint64_t sum = 0;

	for (size_t why = 0; why < LEG_CLOSE_COUNT; why++)
		sum += worker_service_closed(&bench->ws, why);
	return sum;
}

/* ---- making and ending one ---- */

static struct fabric_listener *listen_on(struct bench *bench, struct sim_net *net,
					 void (*incoming)(void *arg, struct fabric_incoming *in))
{
	const struct sockaddr_storage addr = bench_addr(0);
	struct fabric_listener *listener;

	RIG_ASSERT(fabric_listen(&sim_fabric_ops, net, bench->loop, (const struct sockaddr *)&addr,
				 1, incoming, bench, &listener) == 0);
	return listener;
}

static void make_nets(struct bench *bench, const struct bench_faults *faults)
{
	bench->front = sim_net_new(bench->loop, faults ? faults->front : NULL);
	bench->back = sim_net_new(bench->loop, faults ? faults->back : NULL);
	bench->verbs = sim_net_new(bench->loop, faults ? faults->verbs : NULL);
	bench->client_fabric = sim_fabric_new(bench->front, bench->pool);
	bench->front_fabric = sim_fabric_new(bench->front, bench->pool);
	bench->server_fabric = sim_fabric_new(bench->back, bench->pool);
	bench->server_verbs = sim_fabric_new(bench->verbs, bench->pool);
	bench->front_listener = listen_on(bench, bench->front, on_front_incoming);
	bench->back_listener = listen_on(bench, bench->back, on_back_incoming);
	bench->verbs_listener = listen_on(bench, bench->verbs, on_verbs_incoming);
}

static void end_expelled(void *arg)
{
	bridge_limits_close_evicted(&((struct bench *)arg)->ws);
}

static void wake(void *arg)
{
	struct bench *bench = arg;

	loop_defer(bench->loop, &bench->expel);
}

static void make_service(struct bench *bench)
{
	static char name[] = "sim", anywhere[] = "", server[] = "server", port[] = "20049";

	bench->config = (struct service_config){
		.name = name,
		.listen = {.transport = TRANSPORT_RDMA, .host = anywhere, .port = port},
		.connect = {.transport = TRANSPORT_IWARP, .host = server, .port = port},
		.credits = 32,
		.inline_threshold_bytes = 4096,
		.message_bytes = RIG_MAX_MSG,
		.stall_timeout_s = 60,
		.half_closed_timeout_s = 30,
		.max_connections = BENCH_STUBS_MAX,
	};
	RIG_ASSERT(service_init(&bench->service, &bench->config) == 0);
	bench->env = (struct worker_env){
		.loop = bench->loop,
		.pool = bench->pool,
		.resolver = &bench_resolver,
		.legs = &bench_legs,
		.post = fake_loop_post,
		.bridge_freed = on_bridge_gone,
		.wake = on_name_answered,
		.arg = bench,
	};
	bench->ws = (struct worker_service){
		.env = &bench->env,
		.service = &bench->service,
		.account = &bench->budget.account,
		.net = {.env = &bench->env,
			.config = &bench->config,
			.service = &bench->service,
			.iwarp = sim_fabric_new(bench->back, bench->pool),
			.verbs = sim_fabric_new(bench->verbs, bench->pool)},
	};
	TAILQ_INIT(&bench->ws.bridges);
	tls_worker_limits_init(&bench->ws.tls_handshakes);
	RIG_ASSERT(worker_service_add_backends(&bench->ws) == 0);
	loop_task_init(&bench->expel, end_expelled, bench);
	conn_limits_thread_init(&bench->ws.thread, wake, bench);
}

struct bench *bench_new(const struct bench_faults *faults)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	log_set_level(LOG_LEVEL_ERROR);
	the_bench = bench;
	bench->loop = fake_loop_new();
	bench->pool = buf_pool_new(RIG_POOL_BYTES, 8u << 20);
	test_budget_init(&bench->budget, bench->loop, BUDGET_BYTES);
	test_budget_init(&bench->client_budget, bench->loop, BUDGET_BYTES);
	test_budget_init(&bench->server_budget, bench->loop, BUDGET_BYTES);
	bench->next_xid = 0x1000;
	bench->client_addr = 99;
	bench->addrs[0] = bench_addr(0);
	bench->naddrs = 1;
	make_nets(bench, faults);
	make_service(bench);
	end_init(bench, &bench->client, &bench->client_budget);
	end_init(bench, &bench->server, &bench->server_budget);
	return bench;
}

static void free_nets(struct bench *bench)
{
	fabric_listener_free(bench->front_listener);
	fabric_listener_free(bench->back_listener);
	fabric_listener_free(bench->verbs_listener);
	fabric_free(bench->client_fabric);
	fabric_free(bench->front_fabric);
	fabric_free(bench->server_fabric);
	fabric_free(bench->server_verbs);
	fabric_free(bench->ws.net.iwarp);
	fabric_free(bench->ws.net.verbs);
	sim_net_free(bench->front);
	sim_net_free(bench->back);
	sim_net_free(bench->verbs);
}

static void check_empty(struct bench *bench)
{
	struct buf_pool_stats stats;

	RIG_ASSERT(!bench->client.leg && !bench->server.leg && !bench_bridge(bench));
	RIG_ASSERT(bench_closes(bench) == bench->bridges_gone);
	for (unsigned i = 0; i < bench->nstubs; i++)
		RIG_ASSERT(bench->stubs[i]->freed);
	buf_pool_stats_get(bench->pool, &stats);
	RIG_ASSERT(stats.in_use_bytes == 0);
	RIG_ASSERT(bench->budget.account.used_bytes == 0);
	RIG_ASSERT(bench->client_budget.account.used_bytes == 0);
	RIG_ASSERT(bench->server_budget.account.used_bytes == 0);
}

void bench_end(struct bench *bench)
{
	if (bench->client.leg)
		leg_close(bench->client.leg, LEG_CLOSE_LOCAL);
	bench_run(bench, 60000);
	if (bench->server.leg)
		leg_close(bench->server.leg, LEG_CLOSE_LOCAL);
	bench_run(bench, 60000);
	check_empty(bench);
	if (bench->query) {
		loop_task_cancel(bench->loop, &bench->query->task);
		resolve(bench);
	}
	for (unsigned i = 0; i < bench->nstubs; i++)
		free(bench->stubs[i]);
	free_nets(bench);
	worker_service_free_backends(&bench->ws);
	call_stats_fini(&bench->ws.calls);
	service_fini(&bench->service);
	test_budget_fini(&bench->budget);
	test_budget_fini(&bench->client_budget);
	test_budget_fini(&bench->server_budget);
	buf_pool_free(bench->pool);
	fake_loop_free(bench->loop);
	free(bench);
	the_bench = NULL;
}
