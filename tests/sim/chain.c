// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/chain.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "tests/lib/fake_loop.h"
#include "tests/sim/rig.h"

#define MAX_MESSAGE     (4u << 20)
#define POOL_RESERVE    (8u << 20)
#define BUDGET_BYTES    ((size_t)512 << 20)
#define MAX_CONNECTIONS 65536u
#define PORT            20049u
#define END_MS          60000u /* longer than any time limit of the gates */

/* Everybody has the same address: nobody looks at more of it than the fabric's listener. */
static struct sockaddr_storage here(void)
{
	struct sockaddr_storage addr = {.ss_family = AF_INET};

	((struct sockaddr_in *)&addr)->sin_port = htons(PORT);
	return addr;
}

struct chain_gate *chain_first(struct chain *chain)
{
	return &chain->gates[0];
}

struct chain_gate *chain_last(struct chain *chain)
{
	return &chain->gates[chain->ngates - 1];
}

/* ---- the taps ---- */

static void on_opened(void *arg)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(tap->opened++ == 0);
	tap->events->opened(tap->arg);
}

static void on_requested(void *arg)
{
	struct chain_tap *tap = arg;

	tap->events->requested(tap->arg);
}

static void on_call(void *arg, struct exchange *x)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(!tap->closing && x->call_info.stage >= CALL_INFO_HEAD);
	tap->calls++;
	tap->events->call(tap->arg, x);
}

/* The Call is at the end of its way through this gate: nobody looks at it any more. */
static void on_reply(void *arg, struct exchange *x)
{
	struct chain_tap *tap = arg;
	struct chain_gate *gate = tap->gate;

	RIG_ASSERT(!tap->closing);
	tap->replies++;
	if (x->call_info.compound && x->call_info.parse == CALL_PARSE_OK) {
		gate->compounds++;
		gate->ops += x->call_info.nops;
		gate->steps += x->call_info.walk.steps;
		gate->wasted_bytes += x->call_info.walk.wasted_bytes;
	}
	tap->events->reply(tap->arg, x);
}

static void on_more(void *arg, struct exchange *x)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(!tap->closing);
	tap->more_events++;
	tap->events->more(tap->arg, x);
}

static void on_half_closed(void *arg)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(!tap->closing);
	if (tap->events->half_closed)
		tap->events->half_closed(tap->arg);
}

static void on_call_ready(void *arg)
{
	struct chain_tap *tap = arg;

	tap->events->call_ready(tap->arg);
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(tap->closing++ == 0 && !tap->closed);
	tap->why = why;
	tap->events->closing(tap->arg, why, detail);
}

static void on_closed(void *arg)
{
	struct chain_tap *tap = arg;

	RIG_ASSERT(tap->closing == 1 && tap->closed++ == 0);
	tap->leg = NULL;
	tap->events->closed(tap->arg);
}

static void on_note(void *arg, const char *text)
{
	struct chain_tap *tap = arg;

	tap->events->note(tap->arg, text);
}

static const struct leg_events tap_events = {
	.opened = on_opened,
	.requested = on_requested,
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.half_closed = on_half_closed,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
	.note = on_note,
};

static struct leg_config tap_in(struct chain_gate *gate, struct chain_tap **out,
				const struct leg_config *config)
{
	struct chain_tap *tap = calloc(1, sizeof(*tap));
	struct leg_config tapped = *config;

	RIG_ASSERT(tap);
	*tap = (struct chain_tap){
		.next = gate->taps, .gate = gate, .events = config->events, .arg = config->arg};
	*out = gate->taps = tap;
	tapped.events = &tap_events;
	tapped.arg = tap;
	/*
	 * Whichever side delivers incomplete messages, the other end of the chain must not see a
	 * difference.
	 */
	tapped.partial = true;
	return tapped;
}

/* ---- legs ---- */

static struct chain_gate *gate_of(struct service_net *net)
{
	return container_of(net, struct chain_gate, ws.net);
}

static int accept_stream(struct chain_gate *gate, const struct leg_config *config, struct leg **out)
{
	struct tcp_leg_config tcp = {.leg = *config, .worker = &gate->ws.net.tcp};

	/* As daemon/upstream/leg_factory.c: where the server has credits for its Calls. */
	if (gate->chain->ngates > 1)
		tcp.reverse_timeout_us = (uint64_t)gate->config.reverse_timeout_s * 1000000;
	return tcp_leg_accept(&tcp, gate->chain->arriving, NULL, out);
}

static int make_client(struct service_net *net, const struct leg_config *config,
		       const struct accepted_conn *in, struct leg **out)
{
	struct chain_gate *gate = gate_of(net);
	struct chain *chain = gate->chain;
	struct leg_config tapped = tap_in(gate, &gate->client, config);
	int rc = 0;

	if (in->fabric) {
		rc = leg_factory_system.accept(net, &tapped, in, out);
	} else if (chain->params.stub_client) {
		stub_leg_init(&chain->stubs[CHAIN_CLIENT], &tapped);
		*out = &chain->stubs[CHAIN_CLIENT].leg;
	} else {
		rc = accept_stream(gate, &tapped, out);
	}
	gate->client->leg = *out;
	return rc;
}

static int make_server(struct service_net *net, const struct leg_config *config,
		       const struct connect_attempt *attempt, struct leg **out)
{
	struct chain_gate *gate = gate_of(net);
	struct chain *chain = gate->chain;
	struct leg_config tapped = tap_in(gate, &gate->server, config);
	int rc = 0;

	if (chain->params.stub_server && gate == chain_last(chain)) {
		stub_leg_init(&chain->stubs[CHAIN_SERVER], &tapped);
		stub_leg_open(&chain->stubs[CHAIN_SERVER]);
		*out = &chain->stubs[CHAIN_SERVER].leg;
	} else {
		rc = leg_factory_system.connect(net, &tapped, attempt, out);
	}
	gate->server->leg = *out;
	return rc;
}

static const struct leg_factory_ops chain_legs = {.accept = make_client, .connect = make_server};

/* ---- a name server that knows one address ---- */

static int resolver_begin(const char *host, const char *port, struct resolver_answer *answer,
			  void (*done)(void *arg), void *arg)
{
	*answer = (struct resolver_answer){.naddrs = 1, .addrs = {here()}};
	done(arg);
	return 0;
}

static void on_name_answered(void *arg)
{
	worker_service_names_woken(&((struct chain_gate *)arg)->ws);
}

static const struct resolver chain_resolver = {.start = resolver_begin};

/* ---- connections ---- */

static void bridge_begin(struct chain_gate *gate, struct fabric_incoming *fabric)
{
	struct accepted_conn in = {.fd = -1, .fabric = fabric, .peer = here()};
	enum leg_close why;

	if (fabric)
		in.local = fabric->local;
	gate->bridges++;
	((struct sockaddr_in *)&in.peer)->sin_port = htons((uint16_t)gate->bridges);
	in.slot = conn_limits_add(&gate->service.limits, &gate->ws.thread,
				  (const struct sockaddr *)&in.peer, loop_now_us(gate->chain->loop),
				  &why);
	RIG_ASSERT(in.slot);
	RIG_ASSERT(bridge_new(&gate->ws, &in, gate->bridges) == 0);
}

static void on_bridge_gone(void *arg, struct worker_service *ws)
{
	((struct chain_gate *)arg)->bridges_gone++;
}

static void on_fabric_incoming(void *arg, struct fabric_incoming *in)
{
	struct chain *chain = arg;

	bridge_begin(chain_last(chain), in);
}

static enum pair_answer on_asked(void *arg, const struct stream_target *target)
{
	return PAIR_ACCEPT;
}

static void on_accepted(void *arg, struct stream *stream)
{
	struct chain *chain = arg;

	if (chain->params.accepted)
		chain->params.accepted(chain->params.accepted_arg, stream);
	else
		record_end_start(&chain->server.wire, stream);
}

struct stream *chain_dial(struct chain *chain)
{
	struct stream *ends[2];

	RIG_ASSERT(pair_new(chain->client_net, ends) == 0);
	chain->arriving = ends[1];
	bridge_begin(chain_first(chain), NULL);
	return ends[0];
}

void chain_connect(struct chain *chain)
{
	if (chain->params.stub_client) {
		bridge_begin(chain_first(chain), NULL);
		chain_first(chain)->client->events->requested(chain_first(chain)->client->arg);
		return;
	}
	record_end_start(&chain->client.wire, chain_dial(chain));
}

void chain_run(struct chain *chain, unsigned ms)
{
	fake_loop_advance(chain->loop, (uint64_t)ms * 1000);
}

uint64_t chain_closes(const struct chain *chain, unsigned gate, enum leg_close why)
{
	return worker_service_closed(&chain->gates[gate].ws, why);
}

/* ---- making one ---- */

static void end_expelled(void *arg)
{
	bridge_limits_close_evicted(&((struct chain_gate *)arg)->ws);
}

static void wake(void *arg)
{
	struct chain_gate *gate = arg;

	loop_defer(gate->chain->loop, &gate->expel);
}

static void gate_init(struct chain *chain, struct chain_gate *gate)
{
	static char name[] = "chain", anywhere[] = "", server[] = "server", port[] = "20049";
	bool first = gate == chain_first(chain), last = gate == chain_last(chain);
	size_t budget = chain->params.budget_bytes;
	uint32_t max_message = chain->params.max_message_bytes;

	if (!max_message)
		max_message = MAX_MESSAGE;

	gate->chain = chain;
	gate->pool = buf_pool_new(2 * (size_t)max_message, POOL_RESERVE);
	test_budget_init(&gate->budget, chain->loop, budget ? budget : BUDGET_BYTES);
	freelists_init(&gate->freelists);
	gate->config = (struct service_config){
		.name = name,
		.listen = {first ? TRANSPORT_TCP : TRANSPORT_RDMA, anywhere, port},
		.connect = {last ? TRANSPORT_TCP : TRANSPORT_IWARP, server, port},
		.credits = 32,
		.inline_threshold_bytes = 4096,
		.message_bytes = max_message,
		.stall_timeout_s = 30,
		.half_closed_timeout_s = 30,
		.max_connections = MAX_CONNECTIONS,
		.keepalive_s = CHAIN_KEEPALIVE_S,
		.ddp = chain->params.ddp ? DDP_NFS : DDP_NONE,
		.strict_chunks = true,
		.config_protocol = chain->params.configures >> (gate - chain->gates) & 1,
		.config_program = CHAIN_CONFIG_PROGRAM,
	};
	RIG_ASSERT(service_init(&gate->service, &gate->config) == 0);
	gate->env = (struct worker_env){
		.loop = chain->loop,
		.pool = gate->pool,
		.freelists = &gate->freelists,
		.resolver = &chain_resolver,
		.legs = &chain_legs,
		.post = fake_loop_post,
		.bridge_freed = on_bridge_gone,
		.wake = on_name_answered,
		.arg = gate,
	};
	gate->ws = (struct worker_service){
		.env = &gate->env,
		.service = &gate->service,
		.account = &gate->budget.account,
		.net = {.env = &gate->env, .config = &gate->config, .service = &gate->service},
	};
	TAILQ_INIT(&gate->ws.bridges);
	tls_worker_limits_init(&gate->ws.tls_handshakes);
	RIG_ASSERT(worker_service_add_backends(&gate->ws) == 0);
	loop_task_init(&gate->expel, end_expelled, gate);
	conn_limits_thread_init(&gate->ws.thread, wake, gate);
	gate->ws.net.iwarp = sim_fabric_new(chain->fabric_net, gate->pool);
	RIG_ASSERT(tcp_worker_init(&gate->ws.net.tcp, pair_net_streams(chain->server_net)) == 0);
}

static void make_nets(struct chain *chain)
{
	const struct pair_server server = {on_asked, on_accepted, chain};
	const struct sockaddr_storage addr = here();

	chain->client_net = pair_net_new(chain->loop, &chain->params.client);
	chain->server_net = pair_net_new(chain->loop, &chain->params.server);
	chain->fabric_net = sim_net_new(chain->loop, &chain->params.fabric);
	RIG_ASSERT(chain->client_net && chain->server_net && chain->fabric_net);
	pair_net_serve(chain->server_net, &server);
	RIG_ASSERT(fabric_listen(&sim_fabric_ops, chain->fabric_net, chain->loop,
				 (const struct sockaddr *)&addr, 1, on_fabric_incoming, chain,
				 &chain->listener) == 0);
}

struct chain *chain_new(const struct chain_params *params)
{
	struct chain *chain = calloc(1, sizeof(*chain));

	RIG_ASSERT(chain);
	log_set_level(LOG_LEVEL_ERROR);
	if (params)
		chain->params = *params;
	chain->ngates = chain->params.gates ? chain->params.gates : CHAIN_GATES_MAX;
	chain->loop = fake_loop_new();
	make_nets(chain);
	for (unsigned i = 0; i < chain->ngates; i++)
		gate_init(chain, &chain->gates[i]);
	chain_end_init(&chain->client, &chain->book, CHAIN_CLIENT);
	chain_end_init(&chain->server, &chain->book, CHAIN_SERVER);
	return chain;
}

/* ---- ending it ---- */

/* Each leg has said once that it closes, and once that it has. */
static void free_taps(struct chain_gate *gate)
{
	struct chain_tap *tap;

	while ((tap = gate->taps)) {
		RIG_ASSERT(tap->closing == 1 && tap->closed == 1);
		gate->taps = tap->next;
		free(tap);
	}
}

static void gate_fini(struct chain_gate *gate)
{
	struct buf_pool_stats stats;
	uint64_t closes = 0;

	free_taps(gate);
	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
		closes += worker_service_closed(&gate->ws, why);
	RIG_ASSERT(gate->bridges_gone == gate->bridges && closes == gate->bridges);
	RIG_ASSERT(!bridge_next(&gate->ws, NULL));
	buf_pool_stats_get(gate->pool, &stats);
	RIG_ASSERT(stats.in_use_bytes == 0);
	RIG_ASSERT(gate->budget.account.used_bytes == 0 && gate->budget.account.waiting == 0);
	fabric_free(gate->ws.net.iwarp);
	tcp_worker_fini(&gate->ws.net.tcp);
	worker_service_free_backends(&gate->ws);
	call_stats_fini(&gate->ws.calls);
	service_fini(&gate->service);
	test_budget_fini(&gate->budget);
	freelists_fini(&gate->freelists);
	buf_pool_free(gate->pool);
}

static void close_all(struct chain *chain)
{
	struct stub_leg *stub = &chain->stubs[CHAIN_CLIENT];

	if (stub->leg.ops && stub->why == LEG_CLOSE_COUNT)
		stub_leg_break(stub, LEG_CLOSE_PEER);
	record_end_close(&chain->client.wire, false);
	chain_run(chain, END_MS);
	/* The chain ends with its client. */
	for (unsigned i = 0; i < chain->ngates; i++)
		RIG_ASSERT(chain->gates[i].bridges_gone == chain->gates[i].bridges);
	record_end_close(&chain->server.wire, false);
	chain_run(chain, END_MS);
}

void chain_end(struct chain *chain)
{
	close_all(chain);
	fabric_listener_free(chain->listener);
	for (unsigned i = 0; i < chain->ngates; i++)
		gate_fini(&chain->gates[i]);
	for (unsigned i = 0; i < 2; i++)
		RIG_ASSERT(!chain->stubs[i].leg.ops || chain->stubs[i].is_freed);
	record_end_fini(&chain->client.wire);
	record_end_fini(&chain->server.wire);
	chain_book_fini(&chain->book);
	sim_net_free(chain->fabric_net);
	pair_net_free(chain->client_net);
	pair_net_free(chain->server_net);
	fake_loop_free(chain->loop);
	free(chain);
}

struct rdma_leg_counters gate_rdma(const struct chain_gate *gate)
{
	struct rdma_leg_counters sum = gate->ws.net.rdma;

	counters_add(rdma_leg_counters_table, &sum, &gate->ws.net.rdma_upstream);
	return sum;
}

struct tcp_leg_counters gate_tcp(const struct chain_gate *gate)
{
	struct tcp_leg_counters sum = gate->ws.net.tcp.counters;

	counters_add(tcp_leg_counters_table, &sum, &gate->ws.net.tcp_upstream);
	return sum;
}
