// SPDX-License-Identifier: BSD-3-Clause
/* Tests the sim fabric from endpoint to endpoint. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/bare.h"

static struct bare *bare;

static void setup(void)
{
	bare = bare_open(NULL);
}

static void teardown(void)
{
	bare_free(bare);
}

/* The server's Send of so many bytes, which the client must take by a receive of so many. */
static void send_expect(uint32_t len_bytes, uint32_t size_bytes)
{
	unsigned before = bare->client.nevents;

	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, len_bytes, NULL, 0), 0);
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare->client.nevents, before + 1);
	ck_assert_int_eq(bare->client.events[before].what, BARE_RECV);
	ck_assert_uint_eq(bare->client.events[before].recv.len_bytes, len_bytes);
	ck_assert_uint_eq(bare->client.events[before].recv.size_bytes, size_bytes);
}

START_TEST(receives_of_mixed_sizes_are_used_in_order)
{
	fabric_recv_post(bare->client.ep, 1, 10);
	fabric_recv_post(bare->client.ep, 2, 5000);
	for (unsigned i = 0; i < 8; i++)
		send_expect(i * 100, 1024);
	send_expect(10, 10);
	fabric_recv_post(bare->client.ep, 1, 3);
	send_expect(5000, 5000);
	send_expect(0, 5000);
	send_expect(3, 3);
}
END_TEST

START_TEST(a_send_longer_than_the_receive_at_the_head_ends_the_connection)
{
	fabric_recv_post(bare->client.ep, 1, 10);
	fabric_recv_post(bare->client.ep, 1, 5000);
	for (unsigned i = 0; i < 8; i++)
		send_expect(1024, 1024);
	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, 11, NULL, 0), 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_PROTOCOL);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_TERMINATED);
	ck_assert_uint_eq(sim_net_stats(bare->net)->overlong, 1);
}
END_TEST

START_TEST(both_ends_see_the_source_that_was_asked_for)
{
	struct sockaddr_storage source = {.ss_family = AF_INET};
	struct fabric_ep_info info;

	teardown();
	bare = bare_new(NULL);
	memset((char *)&source + sizeof(source.ss_family), 0x2a, 6); /* a port and an address */
	bare->client.params.source = source;
	bare_connect(bare);
	fabric_ep_info(bare->client.ep, &info);
	ck_assert_mem_eq(&info.local, &source, sizeof(source));
	fabric_ep_info(bare->server.ep, &info);
	ck_assert_mem_eq(&info.peer, &source, sizeof(source));
}
END_TEST

static int connect_from(struct bare_end *end, in_port_t port)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = 1}; /* where nobody listens */

	end->params.source.ss_family = AF_INET;
	((struct sockaddr_in *)&end->params.source)->sin_port = port;
	return fabric_connect(bare->fabric, (const struct sockaddr *)&to, &end->params,
			      bare->client.ep->events, end, &end->ep);
}

START_TEST(a_port_is_one_connections_until_that_is_over)
{
	struct bare_end second = {.bare = bare, .params = bare->client.params};
	struct fabric_ep_info info;
	in_port_t port;

	fabric_ep_info(bare->client.ep, &info);
	port = ((struct sockaddr_in *)&info.local)->sin_port;
	ck_assert_uint_ne(port, 0);
	ck_assert_int_eq(connect_from(&second, port), -EADDRINUSE);
	fabric_ep_abort(bare->client.ep);
	ck_assert_int_eq(connect_from(&second, port), 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_LOST);
	fabric_ep_close(second.ep);
	bare_run(bare, 1000);
	fabric_ep_free(second.ep);
}
END_TEST

START_TEST(without_a_source_the_host_chooses)
{
	struct fabric_ep_info info;

	fabric_ep_info(bare->client.ep, &info);
	ck_assert_int_eq(info.local.ss_family, AF_INET);
	ck_assert_uint_ne(((struct sockaddr_in *)&info.local)->sin_port, 0);
}
END_TEST

/*
 * The server exposes memory that fills; the client Reads it into its own buffer, at the same
 * offsets.
 */
static struct fabric_key *late_key(uint32_t ready_bytes)
{
	for (unsigned i = 0; i < 1000; i++)
		bare->server.buf->mem[i] = (uint8_t)(i * 7 + 1);
	return bare_lend(&bare->server, 0, 1000, ready_bytes, FABRIC_REMOTE_READ);
}

static void read_expect(unsigned ndone, uint32_t bytes)
{
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare_count(&bare->client, BARE_DONE), ndone);
	ck_assert_mem_eq(bare->client.buf->mem, bare->server.buf->mem, bytes);
	ck_assert_uint_eq(bare->client.buf->mem[bytes], 0);
}

START_TEST(a_read_is_answered_as_far_as_the_memory_is_ready)
{
	struct fabric_key *key = late_key(10);

	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 1000, key, 0), 0);
	read_expect(0, 10);
	fabric_key_ready(key, 10);
	fabric_key_ready(key, 600);
	read_expect(0, 600);
	fabric_key_ready(key, 1000);
	read_expect(1, 1000);
	ck_assert_int_eq(bare->client.events[0].status, FABRIC_OK);
	ck_assert_uint_gt(sim_net_stats(bare->net)->reads_waited, 0);
}
END_TEST

START_TEST(a_read_that_waits_holds_up_reads_and_nothing_else)
{
	struct fabric_key *key = late_key(100);
	struct fabric_key *full =
		bare_lend(&bare->server, 0, 1000, 1000, FABRIC_REMOTE_READ | FABRIC_REMOTE_WRITE);

	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 200, key, 0), 0);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 500, 10, full, 500), 0);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_WRITE, 2000, 10, full, 900), 0);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_SEND, 0, 10, NULL, 0), 0);
	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, 10, NULL, 0), 0);
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare_count(&bare->client, BARE_RECV), 1);
	ck_assert_uint_eq(bare_count(&bare->server, BARE_RECV), 1);
	ck_assert_uint_eq(bare_count(&bare->client, BARE_DONE), 2);
	/* One that is whole is still answered when it is taken back, in its turn. */
	ck_assert(!bare_unbind(&bare->server, full));
	fabric_key_ready(key, 200);
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare_count(&bare->client, BARE_DONE), 4);
	ck_assert_uint_eq(bare->client.events[bare->client.nevents - 1].which, 1);
	ck_assert_int_eq(bare->client.events[bare->client.nevents - 1].status, FABRIC_OK);
	ck_assert_uint_eq(bare_count(&bare->server, BARE_UNBOUND), 1);
}
END_TEST

START_TEST(a_read_past_the_key_is_refused_whatever_is_ready)
{
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 10, late_key(0), 991), 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare->client.events[0].status, FABRIC_ERR_REMOTE);
	ck_assert_uint_eq(sim_net_stats(bare->net)->access_errors, 1);
}
END_TEST

START_TEST(memory_that_is_taken_back_while_a_read_waits_ends_the_connection)
{
	struct fabric_key *key;
	bool now;

	teardown();
	bare = bare_open(&(struct sim_faults){.async_unbind = _i & 1});
	key = late_key(10);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 1000, key, 0), 0);
	read_expect(0, 10);
	now = bare_unbind(&bare->server, key);
	ck_assert_uint_eq(bare->server.nevents, 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_LOST);
	ck_assert_uint_eq(bare_count(&bare->server, BARE_UNBOUND), !now);
	ck_assert_int_eq(bare->client.events[0].status, FABRIC_FLUSHED);
}
END_TEST

START_TEST(a_read_that_comes_while_late_memory_is_taken_back_ends_the_connection)
{
	struct fabric_key *key;

	teardown();
	bare = bare_open(&(struct sim_faults){.async_unbind = true});
	key = late_key(10);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 1000, key, 0), 0);
	ck_assert(!bare_unbind(&bare->server, key));
	bare_run(bare, 1000);
	ck_assert(bare->client.closed && bare->server.closed);
	ck_assert_uint_eq(bare_count(&bare->server, BARE_UNBOUND), 1);
	ck_assert_int_ne(bare->client.events[0].status, FABRIC_OK);
}
END_TEST

START_TEST(closing_while_a_read_waits_never_completes_it)
{
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 1000, late_key(10), 0), 0);
	bare_run(bare, 1000);
	fabric_ep_close(bare->server.ep);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_PEER);
	ck_assert_int_eq(bare->client.events[0].status, FABRIC_FLUSHED);
}
END_TEST

START_TEST(a_failed_read_after_a_waiting_one_is_reported_in_order)
{
	struct fabric_key *key;

	teardown();
	bare = bare_open(&(struct sim_faults){.fail_wr = 2, .fail_status = FABRIC_ERR_LOCAL});
	key = late_key(10);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 100, key, 0), 0);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 5, key, 0), 0);
	read_expect(0, 10);
	fabric_key_ready(key, 1000);
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare->client.events[0].which, 0);
	ck_assert_int_eq(bare->client.events[0].status, FABRIC_OK);
	ck_assert_int_eq(bare->client.events[1].status, FABRIC_ERR_LOCAL);
}
END_TEST

START_TEST(only_memory_exposed_for_reads_can_still_fill)
{
	bare_lend(&bare->server, 0, 100, 99, FABRIC_REMOTE_WRITE);
}
END_TEST

START_TEST(a_device_that_needs_all_of_it_is_told_all_of_it)
{
	struct fabric_ep_info info;

	teardown();
	bare = bare_open(&(struct sim_faults){.no_late_reads = true});
	fabric_ep_info(bare->server.ep, &info);
	ck_assert(!info.deferred_reads);
	bare_lend(&bare->server, 0, 100, 100, FABRIC_REMOTE_READ);
	bare_lend(&bare->server, 0, 100, 99, FABRIC_REMOTE_READ);
}
END_TEST

START_TEST(a_send_with_invalidate_invalidates_if_it_can)
{
	struct fabric_ep_info info;
	struct fabric_key *key;

	teardown();
	bare = bare_open(&(struct sim_faults){.no_send_inv = _i});
	fabric_ep_info(bare->client.ep, &info);
	ck_assert(info.sends_invalidate == !_i);
	key = bare_lend(&bare->server, 0, 100, 100, FABRIC_REMOTE_READ);
	bare_send_inv(&bare->client, 10, key->rkey);
	bare_run(bare, 1000);
	ck_assert(bare->server.events[0].recv.invalidated == !_i);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_READ, 0, 10, key, 0), 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare->client.events[1].status, _i ? FABRIC_OK : FABRIC_ERR_REMOTE);
}
END_TEST

START_TEST(an_answered_probe_is_not_reported)
{
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), 0);
		bare_run(bare, 2 * SIM_PROBE_TIMEOUT_US);
	}
	ck_assert_uint_eq(sim_net_stats(bare->net)->probes, 3);
	ck_assert_uint_eq(bare->client.nevents + bare->server.nevents, 0);
}
END_TEST

START_TEST(a_peer_that_vanished_is_found_by_a_probe_alone)
{
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_SEND, 0, 10, NULL, 0), 0);
	sim_ep_vanish(bare->server.ep);
	bare_run(bare, 100 * SIM_PROBE_TIMEOUT_US);
	ck_assert_uint_eq(bare->client.nevents, 0);
	ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), 0);
	bare_run(bare, SIM_PROBE_TIMEOUT_US / 2);
	/* One at a time: this one gives it no longer. */
	ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), 0);
	ck_assert_uint_eq(sim_net_stats(bare->net)->probes, 1);
	bare_run(bare, SIM_PROBE_TIMEOUT_US / 2);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_SILENT);
	ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), -ENOTCONN);
	/* The other host hears nothing of it, and may still end. */
	ck_assert(!bare->server.closed);
	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, 10, NULL, 0), 0);
	ck_assert_uint_eq(bare->server.nevents, 0);
}
END_TEST

START_TEST(the_end_of_a_vanished_peer_is_not_reported)
{
	sim_ep_vanish(bare->server.ep);
	fabric_ep_close(bare->server.ep);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_SEND, 0, 10, NULL, 0), 0);
	ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), 0);
	bare_run(bare, SIM_PROBE_TIMEOUT_US);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_SILENT);
}
END_TEST

START_TEST(a_fabric_may_have_no_probe)
{
	teardown();
	bare = bare_open(&(struct sim_faults){.no_probe = true});
	ck_assert_int_eq(fabric_ep_keepalive(bare->client.ep), -EOPNOTSUPP);
}
END_TEST

/*
 * Every call that is allowed inside a callback, on both ends: the result is the one in the table of
 * fabric.h.
 */
static bool dying;

static void call_everything(struct bare_end *end, const struct bare_event *event)
{
	struct fabric_key lost = {.buf = end->buf,
				  .mem = end->buf->mem,
				  .len_bytes = 8,
				  .ready_bytes = 8,
				  .rights = FABRIC_REMOTE_READ};
	struct bare *world = end->bare;
	struct bare_end *ends[] = {end, end == &world->client ? &world->server : &world->client};

	for (unsigned i = 0; i < 2; i++) {
		struct bare_end *at = ends[i];

		fabric_recv_post(at->ep, 1, 1024);
		if (at->nkeys)
			fabric_key_ready(&at->keys[0].key, at->keys[0].key.len_bytes);
		if (dying) {
			ck_assert_int_eq(bare_post(at, FABRIC_SEND, 0, 8, NULL, 0), -ENOTCONN);
			ck_assert_int_eq(fabric_key_bind(at->ep, &lost), -ENOTCONN);
			ck_assert_int_eq(fabric_ep_keepalive(at->ep), -ENOTCONN);
			fabric_ep_close(at->ep);
		} else if (at->nwrs < 20) {
			ck_assert_int_eq(bare_post(at, FABRIC_SEND, 0, 8, NULL, 0), 0);
			ck_assert_int_eq(fabric_ep_keepalive(at->ep), 0);
			if (at->nkeys < BARE_MAX_KEYS)
				bare_lend(at, 0, 8, 4, FABRIC_REMOTE_READ);
		}
	}
	for (unsigned i = 1; i < end->nkeys; i += 2) {
		if (!end->bound[i])
			continue;
		/* One each time, so that some are left for later. */
		if (event->what == BARE_CLOSED)
			ck_assert(bare_unbind(end, &end->keys[i].key));
		else
			(void)!bare_unbind(end, &end->keys[i].key);
		break;
	}
}

START_TEST(everything_may_be_called_inside_every_callback_of_a_living_endpoint)
{
	teardown();
	bare = bare_open(&(struct sim_faults){
		.seed = (uint64_t)_i, .max_delay_us = 50, .async_unbind = _i & 1});
	dying = false;
	bare->client.hook = bare->server.hook = call_everything;
	ck_assert_int_eq(bare_post(&bare->client, FABRIC_SEND, 0, 8, NULL, 0), 0);
	bare_run(bare, 100000);
	ck_assert_uint_ge(bare_count(&bare->server, BARE_RECV), 20);
	ck_assert_uint_ge(bare_count(&bare->client, BARE_DONE), 20);
	ck_assert_uint_eq(bare_count(&bare->server, BARE_UNBOUND) > 0, _i & 1);
	ck_assert(!bare->client.closed && !bare->server.closed);
	bare->client.hook = bare->server.hook = NULL;
}
END_TEST

/* Each order in which what is due before closed() may come. */
static struct {
	bool unbound_first, unbound_last, unbound_between, read_first, send_first, mixed;
} seen;

static void order_note(const struct bare_end *end)
{
	unsigned sends = 0, reads = 0, last_send = 0, last_read = 0, last = 0;
	const struct bare_event *event = end->events;
	bool read;

	for (unsigned i = 0; i + 1 < end->nevents; i++, event++) {
		if (event->what == BARE_UNBOUND) {
			seen.unbound_first |= sends + reads == 0;
			seen.unbound_last |= sends + reads == end->nwrs;
			seen.unbound_between |= sends && reads && sends + reads < end->nwrs;
			continue;
		}
		ck_assert_int_eq(event->what, BARE_DONE);
		ck_assert_int_eq(event->status, FABRIC_FLUSHED);
		read = end->wrs[event->which].wr.op == FABRIC_READ;
		/* In the order of posting among their own. */
		if (read ? reads : sends)
			ck_assert_uint_gt(event->which, read ? last_read : last_send);
		seen.mixed |= reads && !read && last == last_read;
		seen.read_first |= read && !sends;
		seen.send_first |= !read && !reads;
		last = event->which;
		*(read ? &last_read : &last_send) = last;
		++*(read ? &reads : &sends);
	}
	ck_assert_uint_eq(sends + reads, end->nwrs);
}

START_TEST(a_failing_endpoint_reports_due_completions_in_every_order)
{
	memset(&seen, 0, sizeof(seen));
	teardown();
	for (uint64_t seed = 1; seed <= 300; seed++) {
		bare = bare_open(&(struct sim_faults){
			.seed = seed, .max_delay_us = 50, .async_unbind = true});
		for (unsigned i = 0; i < 6; i++) {
			struct fabric_key *key = bare_lend(
				&bare->server, 0, 64, 0, FABRIC_REMOTE_READ | FABRIC_REMOTE_WRITE);

			ck_assert_int_eq(bare_post(&bare->client,
						   i % 3 == 0   ? FABRIC_READ
						   : i % 3 == 1 ? FABRIC_WRITE
								: FABRIC_SEND,
						   0, 8, key, 0),
					 0);
			bare_lend(&bare->client, 0, 64, 64, FABRIC_REMOTE_READ);
		}
		/* Some keys are on their way out, some are taken back while it dies. */
		for (unsigned i = 0; i < 3; i++)
			ck_assert(!bare_unbind(&bare->client, &bare->client.keys[2 * i].key));
		dying = true;
		sim_net_cut(bare->net);
		bare->client.hook = bare->server.hook = call_everything;
		bare_run(bare, 100000);
		ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_LOST);
		order_note(&bare->client);
		bare_free(bare);
	}
	ck_assert(seen.unbound_first && seen.unbound_last && seen.unbound_between);
	ck_assert(seen.read_first && seen.send_first && seen.mixed);
	setup();
}
END_TEST

static void free_inside(struct bare_end *end, const struct bare_event *event)
{
	if (event->what == BARE_CLOSED)
		fabric_ep_free(end->ep);
}

START_TEST(an_endpoint_is_not_freed_inside_its_own_callback)
{
	bare->client.hook = free_inside;
	fabric_ep_close(bare->client.ep);
	bare_run(bare, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bare");
	TCase *tc = tcase_create("receives");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, receives_of_mixed_sizes_are_used_in_order);
	tcase_add_test(tc, a_send_longer_than_the_receive_at_the_head_ends_the_connection);
	suite_add_tcase(suite, tc);
	tc = tcase_create("addresses");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_ends_see_the_source_that_was_asked_for);
	tcase_add_test(tc, a_port_is_one_connections_until_that_is_over);
	tcase_add_test(tc, without_a_source_the_host_chooses);
	suite_add_tcase(suite, tc);
	tc = tcase_create("late");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_read_is_answered_as_far_as_the_memory_is_ready);
	tcase_add_test(tc, a_read_that_waits_holds_up_reads_and_nothing_else);
	tcase_add_test(tc, a_read_past_the_key_is_refused_whatever_is_ready);
	tcase_add_loop_test(tc, memory_that_is_taken_back_while_a_read_waits_ends_the_connection, 0,
			    2);
	tcase_add_test(tc, a_read_that_comes_while_late_memory_is_taken_back_ends_the_connection);
	tcase_add_test(tc, closing_while_a_read_waits_never_completes_it);
	tcase_add_test(tc, a_failed_read_after_a_waiting_one_is_reported_in_order);
	tcase_add_test_raise_signal(tc, only_memory_exposed_for_reads_can_still_fill, SIGABRT);
	tcase_add_test_raise_signal(tc, a_device_that_needs_all_of_it_is_told_all_of_it, SIGABRT);
	suite_add_tcase(suite, tc);
	tc = tcase_create("invalidation and probes");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_send_with_invalidate_invalidates_if_it_can, 0, 2);
	tcase_add_test(tc, an_answered_probe_is_not_reported);
	tcase_add_test(tc, a_peer_that_vanished_is_found_by_a_probe_alone);
	tcase_add_test(tc, the_end_of_a_vanished_peer_is_not_reported);
	tcase_add_test(tc, a_fabric_may_have_no_probe);
	suite_add_tcase(suite, tc);
	tc = tcase_create("calls inside callbacks");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, everything_may_be_called_inside_every_callback_of_a_living_endpoint,
			    0, 20);
	tcase_add_test(tc, a_failing_endpoint_reports_due_completions_in_every_order);
	tcase_add_test_raise_signal(tc, an_endpoint_is_not_freed_inside_its_own_callback, SIGABRT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
