// SPDX-License-Identifier: BSD-3-Clause
/* Tests records: data, events, keys, the end of a connection, and what must not arrive. */
#include "tls/tls_stream.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/openssl_peer.h"
#include "tls/tls_stream_priv.h"

#define LARGE_BYTES 300000u
#define TEXT        "some data"

static struct tls_rig rig;
static struct openssl_peer peer;
static uint8_t data[LARGE_BYTES];

static void setup(void)
{
	peer = (struct openssl_peer){.rig = &rig};
	tls_rig_init(&rig);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8));
}

static void teardown(void)
{
	openssl_peer_fini(&peer);
	tls_rig_fini(&rig);
}

static void expect_data(struct tls_end *from, struct tls_end *to, size_t length)
{
	to->input_bytes = 0;
	ck_assert_int_eq(tls_end_write(from, data, length), 0);
	tls_rig_run(&rig);
	ck_assert_uint_eq(to->input_bytes, length);
	ck_assert_mem_eq(to->input, data, length);
}

/* A peer of our server, or of our client, that is not ours. */
static struct tls_end *open_peer(bool server)
{
	struct tls_end *end = server ? &rig.server : &rig.client;
	char cert[TLS_PATH_BYTES];

	tls_dir_path(&rig.dir, "server.pem", cert);
	openssl_peer_init(&peer, &rig, server ? TLS_ROLE_CLIENT : TLS_ROLE_SERVER,
			  server ? NULL : cert);
	tls_rig_alone(&rig, end, server ? TLS_ROLE_SERVER : TLS_ROLE_CLIENT);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(end->error, 0);
	return end;
}

static void expect_exchange(struct tls_end *end)
{
	end->input_bytes = peer.input_bytes = 0;
	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, sizeof(TEXT));
	ck_assert_int_eq(tls_end_write(end, TEXT, sizeof(TEXT)), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, sizeof(TEXT));
}

static void expect_broken(const struct tls_end *end, int error, const char *words)
{
	ck_assert_msg(end->last_read == error && !strcmp(tls_stream_error(end->stream), words),
		      "%zd: %s", end->last_read, tls_stream_error(end->stream));
}

/* ---- data ---- */

START_TEST(bytes_arrive_in_both_directions)
{
	static const size_t lengths[] = {1, 16383, 16384, 16385, 65536, 65537, LARGE_BYTES};

	tls_rig_open(&rig);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		expect_data(&rig.client, &rig.server, lengths[i]);
		expect_data(&rig.server, &rig.client, lengths[i]);
	}
}
END_TEST

/* Returns the number of records, and the lengths of their plaintexts. */
static unsigned count_records(size_t *lengths, unsigned most)
{
	static uint8_t bytes[65536];
	struct iovec iov = {bytes, sizeof(bytes)};
	ssize_t n = stream_readv(rig.raw, &iov, 1);
	unsigned records = 0;

	for (ssize_t at = 0; at < n; records++) {
		size_t length = (size_t)bytes[at + 3] << 8 | bytes[at + 4];

		ck_assert_uint_lt(records, most);
		lengths[records] = length - 17; /* the tag, and the type */
		at += 5 + (ssize_t)length;
		BIO_write(peer.in, bytes + at - 5 - length, (int)length + 5);
	}
	return records;
}

/* A Reply is a few small pieces and a large one. */
START_TEST(small_pieces_share_records)
{
	struct iovec iov[] = {{data, 4}, {data + 4, 96}, {data + 100, 0}, {data + 100, 40000}};
	size_t lengths[8];

	open_peer(true);
	ck_assert_int_eq(stream_writev(rig.server.stream, iov, 4), 40100);
	tls_rig_run(&rig);
	ck_assert_uint_eq(count_records(lengths, 8), 3);
	ck_assert_uint_eq(lengths[0], 16384);
	ck_assert_uint_eq(lengths[1], 16384);
	ck_assert_uint_eq(lengths[2], 40100 - 2 * 16384);
	openssl_peer_run(&peer);
	openssl_peer_write(&peer, TEXT, 1);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(rig.server.input_bytes, 1);
}
END_TEST

START_TEST(gathered_pieces_are_in_order)
{
	struct iovec iov[40];
	size_t at = 0;

	tls_rig_open(&rig);
	for (size_t i = 0; i < ARRAY_SIZE(iov); i++) {
		iov[i] = (struct iovec){data + at, i * 37 % 11 * 300};
		at += iov[i].iov_len;
	}
	ck_assert_uint_lt(at, 65536);
	ck_assert_int_eq(stream_writev(rig.client.stream, iov, ARRAY_SIZE(iov)), (ssize_t)at);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.server.input_bytes, at);
	ck_assert_mem_eq(rig.server.input, data, at);
	ck_assert_int_eq(stream_writev(rig.client.stream, iov, 0), 0);
	iov[0].iov_len = 0;
	ck_assert_int_eq(stream_writev(rig.client.stream, iov, 1), 0);
	ck_assert_int_eq(stream_readv(rig.client.stream, iov, 1), 0);
}
END_TEST

START_TEST(a_read_can_have_several_pieces)
{
	uint8_t first[5], second[70000];
	struct iovec iov[] = {{first, sizeof(first)}, {second, sizeof(second)}};

	rig.server.drains = false;
	tls_rig_open(&rig);
	ck_assert_int_eq(stream_readv(rig.server.stream, iov, 2), -EAGAIN);
	ck_assert_int_eq(tls_end_write(&rig.client, data, 40000), 0);
	ck_assert_int_eq(stream_readv(rig.server.stream, iov, 2), 40000);
	ck_assert_mem_eq(first, data, 5);
	ck_assert_mem_eq(second, data + 5, 40000 - 5);
}
END_TEST

START_TEST(a_peek_leaves_the_byte)
{
	uint8_t bytes[2];
	struct iovec iov = {bytes, sizeof(bytes)};

	rig.server.drains = false;
	tls_rig_open(&rig);
	ck_assert_int_eq(stream_peek(rig.server.stream), -EAGAIN);
	ck_assert_int_eq(tls_end_write(&rig.client, "ab", 2), 0);
	ck_assert_int_eq(stream_peek(rig.server.stream), 1);
	/* It is not in the inner stream any more, but still to be read. */
	stream_watch(rig.server.stream, LOOP_READ);
	loop_run_tasks(rig.loop);
	ck_assert_uint_eq(rig.server.events, LOOP_READ);
	ck_assert_int_eq(stream_peek(rig.server.stream), 1);
	ck_assert_int_eq(stream_readv(rig.server.stream, &iov, 1), 2);
	ck_assert_mem_eq(bytes, "ab", 2);
	ck_assert_int_eq(stream_peek(rig.server.stream), -EAGAIN);
	stream_watch(rig.server.stream, 0);
}
END_TEST

/* ---- events ---- */

START_TEST(readiness_lasts_until_all_is_read)
{
	rig.server.read_bytes = 7;
	tls_rig_open(&rig);
	expect_data(&rig.client, &rig.server, 40000);
	ck_assert_uint_ge(rig.server.nready, 40000 / 7);
	/* Part of a record is nothing to read, and wakes nobody. */
	ck_assert_uint_le(rig.server.nready, 40000 / 7 + 10);
}
END_TEST

START_TEST(part_of_a_record_wakes_nobody)
{
	uint8_t record[4096];
	size_t length;

	open_peer(true);
	openssl_peer_write(&peer, data, 1000);
	length = openssl_peer_take(&peer, record, sizeof(record));
	tls_rig_send_raw(&rig, record, length - 1);
	ck_assert_uint_eq(rig.server.input_bytes, 0);
	rig.server.nready = 0;
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.server.nready, 0);
	tls_rig_send_raw(&rig, record + length - 1, 1);
	ck_assert_uint_eq(rig.server.input_bytes, 1000);
}
END_TEST

/* Fills the way to a peer that does not read. Returns how many bytes were taken. */
static size_t fill(struct tls_end *end)
{
	struct iovec iov = {data, sizeof(data)};
	size_t done = 0;
	ssize_t n;

	while ((n = stream_writev(end->stream, &iov, 1)) > 0) {
		done += (size_t)n;
		tls_rig_run(&rig);
	}
	ck_assert_int_eq(n, -EAGAIN);
	return done;
}

START_TEST(what_does_not_fit_is_sent_later)
{
	struct tls_end *end = open_peer(true);
	size_t done = fill(end);

	/* The pair has taken all that it could, and the stream has the rest. */
	ck_assert_uint_ge(done, PAIR_BUFFER_BYTES);
	ck_assert_uint_le(done, 2 * PAIR_BUFFER_BYTES);
	ck_assert_uint_gt(stream_unacked_bytes(end->stream), done);
	ck_assert_uint_gt(stream_unsent_bytes(end->stream), 0);
	ck_assert_uint_le(stream_unsent_bytes(end->stream), TLS_OUT_BYTES);
	ck_assert(tls_stream_has_output(end->stream));
	/* Nobody waits for it. */
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, done);
	ck_assert(!tls_stream_has_output(end->stream));
	ck_assert_uint_eq(stream_unsent_bytes(end->stream), 0);
	ck_assert_uint_eq(stream_unacked_bytes(end->stream), 0);
}
END_TEST

START_TEST(a_stream_is_writable_once_all_is_sent)
{
	struct tls_end *end = open_peer(true);

	fill(end);
	end->nready = 0;
	stream_watch(end->stream, LOOP_WRITE);
	tls_rig_run(&rig);
	ck_assert_uint_eq(end->nready, 0);
	rig.stop_writing = true;
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->nready, 1);
	ck_assert_uint_eq(end->events, LOOP_WRITE);
}
END_TEST

START_TEST(a_lost_connection_is_reported)
{
	struct tls_end *end = open_peer(true);

	ck_assert_uint_eq(stream_ended(end->stream), 0);
	stream_watch(end->stream, LOOP_LOST | LOOP_END);
	pair_net_cut(rig.net);
	tls_rig_run(&rig);
	ck_assert_uint_eq(end->events, LOOP_LOST);
	ck_assert_uint_eq(stream_ended(end->stream), LOOP_LOST);
}
END_TEST

START_TEST(an_error_of_the_loop_is_passed_on)
{
	tls_rig_open(&rig);
	pair_net_blind(rig.net, true);
	stream_watch(rig.server.stream, LOOP_READ | LOOP_WRITE);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.server.events, LOOP_ERROR);
}
END_TEST

START_TEST(an_error_of_the_loop_ends_a_handshake)
{
	tls_rig_connect(&rig);
	pair_net_blind(rig.net, true);
	tls_rig_run(&rig);
	ck_assert_int_eq(rig.server.error, -ENOMEM);
	ck_assert_str_eq(tls_stream_error(rig.server.stream), "the connection cannot be watched");
	ck_assert_uint_eq(rig.server.counters.handshakes_resources, 1);
}
END_TEST

START_TEST(addresses_are_those_of_the_inner_stream)
{
	struct sockaddr_storage addrs[2][2];

	tls_rig_open(&rig);
	stream_addrs(rig.client.stream, &addrs[0][0], &addrs[0][1]);
	stream_addrs(rig.server.stream, &addrs[1][1], &addrs[1][0]);
	ck_assert_mem_eq(&addrs[0][0], &addrs[1][0], sizeof(struct sockaddr_in));
	ck_assert_mem_eq(&addrs[0][1], &addrs[1][1], sizeof(struct sockaddr_in));
}
END_TEST

/* ---- keys ---- */

START_TEST(a_peer_changes_its_key)
{
	struct tls_end *end = open_peer(_i & 1);

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(SSL_key_update(peer.ssl, _i & 2 ? SSL_KEY_UPDATE_REQUESTED
								 : SSL_KEY_UPDATE_NOT_REQUESTED),
				 1);
		expect_exchange(end);
	}
	/* A request is answered by an own one. */
	ck_assert_uint_eq(end->counters.key_updates, _i & 2 ? 6 : 3);
}
END_TEST

START_TEST(our_side_changes_its_key_in_time)
{
	tls_rig_open(&rig);
	tls_stream_of(rig.client.stream)->max_records = 5;
	expect_data(&rig.client, &rig.server, LARGE_BYTES);
	ck_assert_uint_ge(rig.client.counters.key_updates, 3);
	ck_assert_uint_eq(rig.client.counters.key_updates, rig.server.counters.key_updates);
	expect_data(&rig.server, &rig.client, LARGE_BYTES);
}
END_TEST

static void update_key(void)
{
	ck_assert_int_eq(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
	ck_assert_int_eq(SSL_do_handshake(peer.ssl), 1);
}

START_TEST(many_key_updates_without_data_end_the_connection)
{
	struct tls_end *end = open_peer(true);

	for (unsigned i = 0; i < TLS_MESSAGES_MAX; i++)
		update_key();
	openssl_peer_run(&peer);
	expect_exchange(end);
	for (unsigned i = 0; i < TLS_MESSAGES_MAX + 1; i++)
		update_key();
	openssl_peer_run(&peer);
	tls_rig_run(&rig);
	expect_broken(end, -EPROTO, "the client sent too many messages of TLS itself");
	ck_assert_uint_eq(end->counters.record_errors, 1);
}
END_TEST

/* Each message is followed by data, but the peer does not read the answers. */
START_TEST(answers_that_nobody_reads_end_the_connection)
{
	struct tls_end *end = open_peer(true);
	unsigned i;

	for (i = 0; i < 20000 && end->last_read >= -EAGAIN && !end->counters.record_errors; i++) {
		ck_assert_int_eq(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
		openssl_peer_write(&peer, TEXT, 1);
		if (i % 32 == 0)
			openssl_peer_send(&peer);
	}
	expect_broken(end, -EPROTO, "the client sent too many messages of TLS itself");
	ck_assert_uint_gt(i, (PAIR_BUFFER_BYTES + TLS_OUT_BYTES) / 30);
	ck_assert_uint_eq(stream_unsent_bytes(end->stream), 0);
}
END_TEST

START_TEST(a_burst_of_key_updates_is_not_executed_to_its_end)
{
	struct tls_end *end = open_peer(true);

	for (unsigned i = 0; i < 1000; i++)
		update_key();
	openssl_peer_run(&peer);
	tls_rig_run(&rig);
	expect_broken(end, -EPROTO, "the client sent too many messages of TLS itself");
	ck_assert_uint_eq(end->counters.key_updates, TLS_MESSAGES_MAX + 1);
}
END_TEST

/* Each makes a key: as many as records would delay the other connections of the loop. */
START_TEST(key_updates_between_data_take_several_events)
{
	struct tls_end *end = open_peer(true);
	unsigned before = end->nready;

	for (size_t i = 0; i < 2 * TLS_EVENT_RECORDS; i++) {
		openssl_peer_write(&peer, data + i, 1);
		update_key();
	}
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, 2 * TLS_EVENT_RECORDS);
	ck_assert_uint_ge(end->nready - before, 2 * TLS_MESSAGE_RECORDS);
}
END_TEST

START_TEST(many_tickets_end_the_connection)
{
	struct tls_end *end = open_peer(false);

	for (unsigned i = 0; i < TLS_MESSAGES_MAX + 1; i++) {
		ck_assert_int_eq(SSL_new_session_ticket(peer.ssl), 1);
		ck_assert_int_eq(SSL_do_handshake(peer.ssl), 1);
	}
	openssl_peer_run(&peer);
	expect_broken(end, -EPROTO, "the server sent too many messages of TLS itself");
}
END_TEST

/* ---- the end ---- */

START_TEST(close_notify_is_the_end_of_the_stream)
{
	struct tls_end *end = open_peer(_i);

	openssl_peer_write(&peer, data, 20000);
	ck_assert_int_eq(SSL_shutdown(peer.ssl), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, 20000);
	ck_assert_int_eq(end->last_read, 0);
	ck_assert_uint_eq(stream_ended(end->stream), LOOP_END);
	ck_assert_int_eq(stream_peek(end->stream), 0);
	/* Our side is open. */
	ck_assert_int_eq(tls_end_write(end, data, 1000), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, 1000);
	ck_assert_uint_eq(end->counters.truncations + end->counters.record_errors, 0);
}
END_TEST

START_TEST(shutdown_sends_close_notify)
{
	struct tls_end *end = open_peer(true);
	struct iovec iov = {data, 1};

	ck_assert_int_eq(tls_end_write(end, data, 1000), 0);
	ck_assert_int_eq(stream_shutdown(end->stream), 0);
	ck_assert_int_eq(stream_shutdown(end->stream), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, 1000);
	ck_assert(peer.got_end);
	ck_assert_uint_eq(stream_ended(rig.raw), LOOP_END);
	ck_assert_int_eq(stream_writev(end->stream, &iov, 1), -EPIPE);
	/* The peer's side is open. */
	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, sizeof(TEXT));
}
END_TEST

START_TEST(shutdown_comes_after_what_is_sent_later)
{
	struct tls_end *end = open_peer(true);
	size_t done = fill(end);

	ck_assert_int_eq(stream_shutdown(end->stream), 0);
	tls_rig_run(&rig);
	ck_assert_uint_eq(stream_ended(rig.raw), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, done);
	ck_assert(peer.got_end);
	ck_assert_uint_eq(stream_ended(rig.raw), LOOP_END);
}
END_TEST

START_TEST(close_without_reset_sends_close_notify)
{
	struct tls_end *end = open_peer(true);

	ck_assert_int_eq(tls_end_write(end, data, 1000), 0);
	tls_end_close(end, false);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, 1000);
	ck_assert(peer.got_end);
}
END_TEST

START_TEST(close_with_reset_sends_nothing)
{
	tls_end_close(open_peer(true), true);
	tls_rig_run(&rig);
	ck_assert_int_eq(stream_peek(rig.raw), -ECONNRESET);
}
END_TEST

START_TEST(an_end_without_close_notify_is_an_error)
{
	struct tls_end *end = open_peer(_i);

	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_run(&peer);
	stream_shutdown(rig.raw);
	tls_rig_run(&rig);
	ck_assert_uint_eq(end->input_bytes, sizeof(TEXT));
	expect_broken(end, -ENOLINK,
		      _i ? "the client ended the connection without close_notify"
			 : "the server ended the connection without close_notify");
	ck_assert_uint_eq(end->counters.truncations, 1);
	ck_assert_uint_eq(end->counters.record_errors, 0);
	ck_assert_int_eq(stream_peek(end->stream), -ENOLINK);
	ck_assert_int_eq(stream_shutdown(end->stream), -ENOLINK);
}
END_TEST

START_TEST(an_end_in_the_middle_of_a_record_is_an_error)
{
	uint8_t record[4096];
	size_t length;
	struct tls_end *end = open_peer(true);

	openssl_peer_write(&peer, data, 1000);
	length = openssl_peer_take(&peer, record, sizeof(record));
	tls_rig_send_raw(&rig, record, length - 1);
	stream_shutdown(rig.raw);
	tls_rig_run(&rig);
	expect_broken(end, -ENOLINK, "the client ended the connection without close_notify");
	ck_assert_uint_eq(end->counters.truncations, 1);
}
END_TEST

START_TEST(a_reset_is_one)
{
	struct tls_end *end = open_peer(true);

	pair_net_cut(rig.net);
	tls_rig_run(&rig);
	expect_broken(end, -ECONNRESET, "");
	ck_assert_uint_eq(end->counters.truncations + end->counters.record_errors, 0);
}
END_TEST

/* The reset is noticed by what was to be sent later; a reader and a writer learn it. */
START_TEST(a_reset_while_something_is_to_be_sent)
{
	struct tls_end *end = open_peer(true);
	struct iovec iov = {data, 1};

	fill(end);
	stream_watch(end->stream, LOOP_WRITE);
	end->seen = 0;
	end->drains = false;
	rig.stop_writing = true;
	pair_net_cut(rig.net);
	tls_rig_run(&rig);
	ck_assert_uint_ne(end->seen & LOOP_WRITE, 0);
	ck_assert_int_eq(stream_writev(end->stream, &iov, 1), -ECONNRESET);
	ck_assert_int_eq(stream_readv(end->stream, &iov, 1), -ECONNRESET);
}
END_TEST

/* ---- bad records ---- */

START_TEST(a_record_that_was_changed_is_refused)
{
	uint8_t record[4096];
	size_t length;
	struct tls_end *end = open_peer(true);

	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_write(&peer, data, 1000);
	length = openssl_peer_take(&peer, record, sizeof(record));
	record[length - 500] ^= 1;
	tls_rig_send_raw(&rig, record, length);
	/* What was before it is good. */
	ck_assert_uint_eq(end->input_bytes, sizeof(TEXT));
	expect_broken(end, -EPROTO, "the client sent a record that cannot be decrypted");
	ck_assert_uint_eq(end->counters.record_errors, 1);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.reason, SSL_AD_REASON_OFFSET + SSL_AD_BAD_RECORD_MAC);
	ck_assert_int_eq(stream_writev(end->stream, &(struct iovec){data, 1}, 1), -EPROTO);
	tls_end_close(end, false);
}
END_TEST

START_TEST(an_alert_of_the_peer_ends_the_connection)
{
	uint8_t record[4096];
	struct iovec iov = {record, sizeof(record)};
	struct tls_end *end = open_peer(true);
	ssize_t length;

	ck_assert_int_eq(tls_end_write(end, TEXT, sizeof(TEXT)), 0);
	length = stream_readv(rig.raw, &iov, 1);
	ck_assert_int_gt(length, 20);
	record[length - 1] ^= 1;
	BIO_write(peer.in, record, (int)length);
	ck_assert_int_eq(SSL_read(peer.ssl, record, 1), -1);
	openssl_peer_send(&peer);
	expect_broken(end, -ECONNRESET, "the client ended it by the alert \"bad record mac\"");
	ck_assert_uint_eq(end->counters.record_errors, 1);
}
END_TEST

static const struct {
	uint8_t header[5];
	const char *words;
} bad_records[] = {
	{{0x17, 3, 3, 0x41, 0x01}, "the client sent a record that is too long"},
	{{0x17, 3, 3, 0xff, 0xff}, "the client sent a record that is too long"},
	{{0x15, 3, 3, 0, 2}, NULL}, /* an alert in clear */
	{{0x16, 3, 3, 0, 5}, NULL},
	{{0x80, 0, 0, 0x28, 0}, NULL},
};

START_TEST(what_is_no_record_is_refused)
{
	static uint8_t record[5 + 65535];
	const uint8_t *header = bad_records[_i].header;
	struct tls_end *end = open_peer(true);

	memcpy(record, header, 5);
	record[5] = 1; /* warning, … */
	record[6] = 0; /* … close_notify */
	tls_rig_send_raw(&rig, record, 5 + ((size_t)header[3] << 8 | header[4]));
	if (bad_records[_i].words)
		expect_broken(end, -EPROTO, bad_records[_i].words);
	else
		ck_assert_int_eq(end->last_read, -EPROTO);
	ck_assert_uint_eq(end->counters.record_errors, 1);
}
END_TEST

START_TEST(a_client_can_demand_short_records)
{
	struct tls_end *end = &rig.server;

	openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, NULL);
	ck_assert_int_eq(SSL_CTX_set_tlsext_max_fragment_length(peer.ctx, (uint8_t)_i), 1);
	tls_rig_alone(&rig, end, TLS_ROLE_SERVER);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(end->error, 0);
	for (size_t done = 0, turns = 0; done < LARGE_BYTES; turns++) {
		struct iovec iov = {data + done, LARGE_BYTES - done};
		ssize_t n = stream_writev(end->stream, &iov, 1);

		ck_assert(n > 0 || n == -EAGAIN);
		ck_assert_uint_lt(turns, 1000);
		done += n > 0 ? (size_t)n : 0;
		openssl_peer_run(&peer);
	}
	ck_assert_uint_eq(peer.input_bytes, LARGE_BYTES);
	ck_assert_mem_eq(peer.input, data, LARGE_BYTES);
	ck_assert_str_eq(tls_stream_error(end->stream), "");
}
END_TEST

START_TEST(records_of_one_byte_arrive)
{
	struct tls_end *end = open_peer(true);
	unsigned before = end->nready;

	for (size_t i = 0; i < 3000; i++)
		openssl_peer_write(&peer, data + i, 1);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, 3000);
	/* Other connections have their turn meanwhile. */
	ck_assert_uint_ge(end->nready - before, 3000 / TLS_EVENT_RECORDS);
	ck_assert_mem_eq(end->input, data, 3000);
}
END_TEST

/* ---- memory ---- */

#define IDLE 32u

static size_t allocated(void)
{
	return mallinfo2().uordblks;
}

START_TEST(an_idle_connection_has_no_buffers)
{
	struct stream *streams[IDLE][2];
	size_t before, idle;

	tls_rig_open(&rig); /* what OpenSSL keeps for all connections */
	expect_data(&rig.client, &rig.server, LARGE_BYTES);
	before = allocated();
	for (unsigned i = 0; i < IDLE; i++) {
		streams[i][0] = rig.client.stream;
		streams[i][1] = rig.server.stream;
		rig.client.connected = rig.server.connected = false;
		tls_rig_open(&rig);
		expect_data(&rig.client, &rig.server, LARGE_BYTES);
		expect_data(&rig.server, &rig.client, LARGE_BYTES);
	}
	idle = (allocated() - before) / (2 * IDLE);
	/* The pair's own buffers do not count. */
	ck_assert_uint_lt(idle, PAIR_BUFFER_BYTES + tls_stream_idle_bytes());
	for (unsigned i = 0; i < IDLE; i++)
		for (unsigned j = 0; j < 2; j++) {
			stream_close(streams[i][j], true);
			stream_free(streams[i][j]);
		}
}
END_TEST

START_TEST(a_busy_connection_has_what_is_stated)
{
	uint8_t record[20000];
	size_t length, before = allocated(), busy;
	struct tls_end *end = open_peer(true);

	before = allocated();
	fill(end);
	openssl_peer_write(&peer, data, 16384);
	length = openssl_peer_take(&peer, record, sizeof(record));
	tls_rig_send_raw(&rig, record, length - 1);
	busy = allocated() - before;
	ck_assert_uint_le(busy + tls_stream_idle_bytes(), tls_stream_memory_bytes() + 4096);
}
END_TEST

static void add_events(TCase *tc)
{
	tcase_add_test(tc, readiness_lasts_until_all_is_read);
	tcase_add_test(tc, part_of_a_record_wakes_nobody);
	tcase_add_test(tc, what_does_not_fit_is_sent_later);
	tcase_add_test(tc, a_stream_is_writable_once_all_is_sent);
	tcase_add_test(tc, a_lost_connection_is_reported);
	tcase_add_test(tc, an_error_of_the_loop_is_passed_on);
	tcase_add_test(tc, an_error_of_the_loop_ends_a_handshake);
	tcase_add_test(tc, addresses_are_those_of_the_inner_stream);
}

static void add_ends(TCase *tc)
{
	tcase_add_loop_test(tc, close_notify_is_the_end_of_the_stream, 0, 2);
	tcase_add_test(tc, shutdown_sends_close_notify);
	tcase_add_test(tc, shutdown_comes_after_what_is_sent_later);
	tcase_add_test(tc, close_without_reset_sends_close_notify);
	tcase_add_test(tc, close_with_reset_sends_nothing);
	tcase_add_loop_test(tc, an_end_without_close_notify_is_an_error, 0, 2);
	tcase_add_test(tc, an_end_in_the_middle_of_a_record_is_an_error);
	tcase_add_test(tc, a_reset_is_one);
	tcase_add_test(tc, a_reset_while_something_is_to_be_sent);
}

int main(void)
{
	Suite *suite = suite_create("tls_stream");
	TCase *tc = tcase_create("tls_stream");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, bytes_arrive_in_both_directions);
	tcase_add_test(tc, small_pieces_share_records);
	tcase_add_test(tc, gathered_pieces_are_in_order);
	tcase_add_test(tc, a_read_can_have_several_pieces);
	tcase_add_test(tc, a_peek_leaves_the_byte);
	add_events(tc);
	tcase_add_loop_test(tc, a_peer_changes_its_key, 0, 4);
	tcase_add_test(tc, our_side_changes_its_key_in_time);
	tcase_add_test(tc, many_key_updates_without_data_end_the_connection);
	tcase_add_test(tc, a_burst_of_key_updates_is_not_executed_to_its_end);
	tcase_add_test(tc, key_updates_between_data_take_several_events);
	tcase_add_test(tc, answers_that_nobody_reads_end_the_connection);
	tcase_add_test(tc, many_tickets_end_the_connection);
	add_ends(tc);
	tcase_add_test(tc, a_record_that_was_changed_is_refused);
	tcase_add_test(tc, an_alert_of_the_peer_ends_the_connection);
	tcase_add_loop_test(tc, what_is_no_record_is_refused, 0, ARRAY_SIZE(bad_records));
	tcase_add_loop_test(tc, a_client_can_demand_short_records, TLSEXT_max_fragment_length_512,
			    TLSEXT_max_fragment_length_4096 + 1);
	tcase_add_test(tc, records_of_one_byte_arrive);
	tcase_add_test(tc, an_idle_connection_has_no_buffers);
	tcase_add_test(tc, a_busy_connection_has_what_is_stated);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
