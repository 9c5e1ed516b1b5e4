// SPDX-License-Identifier: BSD-3-Clause
/* Tests peers that are not ours: what they can choose, and what they must not send. */
#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/openssl_peer.h"

#define TEXT "some data"

static struct tls_rig rig;
static struct openssl_peer peer;
static char cert[TLS_PATH_BYTES];

static void setup(void)
{
	peer = (struct openssl_peer){.rig = &rig};
	tls_rig_init(&rig);
	tls_dir_path(&rig.dir, "server.pem", cert);
}

static void teardown(void)
{
	openssl_peer_fini(&peer);
	tls_rig_fini(&rig);
}

/* A client that is not ours, and our server. */
static void make_client(void)
{
	openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, NULL);
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
}

/* A server that is not ours, and our client. */
static void make_server(void)
{
	openssl_peer_init(&peer, &rig, TLS_ROLE_SERVER, cert);
	tls_rig_alone(&rig, &rig.client, TLS_ROLE_CLIENT);
}

static void open_end(struct tls_end *end)
{
	if (end == &rig.server)
		make_client();
	else
		make_server();
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert(end->connected);
	ck_assert_msg(!end->error, "%s", tls_stream_error(end->stream));
}

static struct tls_end *end_of(int i)
{
	return i ? &rig.server : &rig.client;
}

static void expect_failed(const struct tls_end *end, int error, const char *words)
{
	ck_assert(end->connected);
	ck_assert_msg(end->error == error && !strcmp(tls_stream_error(end->stream), words),
		      "%d: %s", end->error, tls_stream_error(end->stream));
}

static void expect_exchange(struct tls_end *end)
{
	end->input_bytes = peer.input_bytes = 0;
	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_run(&peer);
	ck_assert_uint_eq(end->input_bytes, sizeof(TEXT));
	ck_assert_mem_eq(end->input, TEXT, sizeof(TEXT));
	ck_assert_int_eq(tls_end_write(end, TEXT, sizeof(TEXT)), 0);
	openssl_peer_run(&peer);
	ck_assert_uint_eq(peer.input_bytes, sizeof(TEXT));
	ck_assert_mem_eq(peer.input, TEXT, sizeof(TEXT));
}

/* ---- what a peer can choose ---- */

START_TEST(a_peer_of_either_role)
{
	open_end(end_of(_i));
	expect_exchange(end_of(_i));
}
END_TEST

static void offer(const char *protocols)
{
	make_client();
	ck_assert_int_eq(SSL_CTX_set_alpn_protos(peer.ctx, (const uint8_t *)protocols,
						 (unsigned)strlen(protocols)),
			 0);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
}

static void expect_alpn(const char *expected)
{
	const uint8_t *chosen = NULL;
	unsigned length = 0;

	ck_assert_int_eq(rig.server.error, 0);
	SSL_get0_alpn_selected(peer.ssl, &chosen, &length);
	ck_assert_uint_eq(length, strlen(expected));
	if (length)
		ck_assert_mem_eq(chosen, expected, length);
}

START_TEST(a_client_offers_several_protocols)
{
	offer("\x08http/1.1\x06sunrpc");
	expect_alpn("sunrpc");
}
END_TEST

START_TEST(a_client_without_alpn_is_accepted)
{
	offer("");
	expect_alpn("");
}
END_TEST

START_TEST(a_client_of_another_protocol_is_refused)
{
	offer("\x08http/1.1\x07sunrpc2\x06SUNRPC");
	expect_failed(&rig.server, -EPROTO, "the client wants another protocol than RPC (ALPN)");
	ck_assert_uint_eq(rig.server.counters.handshakes_protocol, 1);
	ck_assert_uint_eq(peer.reason, SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL);
}
END_TEST

static int select_none(SSL *ssl, const uint8_t **out, uint8_t *length, const uint8_t *in,
		       unsigned in_bytes, void *arg)
{
	return SSL_TLSEXT_ERR_NOACK;
}

static int note_offer(SSL *ssl, const uint8_t **out, uint8_t *length, const uint8_t *in,
		      unsigned in_bytes, void *arg)
{
	ck_assert_uint_eq(in_bytes, 7);
	ck_assert_mem_eq(in, "\x06sunrpc", 7);
	*out = in + 1;
	*length = 6;
	return SSL_TLSEXT_ERR_OK;
}

START_TEST(a_server_selects_the_protocol_or_none)
{
	make_server();
	SSL_CTX_set_alpn_select_cb(peer.ctx, _i ? note_offer : select_none, NULL);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.client.error, 0);
	ck_assert_str_eq(SSL_get_servername(peer.ssl, TLSEXT_NAMETYPE_host_name), "proxy.example");
}
END_TEST

static int select_fatal(SSL *ssl, const uint8_t **out, uint8_t *length, const uint8_t *in,
			unsigned in_bytes, void *arg)
{
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

START_TEST(a_server_of_another_protocol_says_so)
{
	make_server();
	SSL_CTX_set_alpn_select_cb(peer.ctx, select_fatal, NULL);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	expect_failed(&rig.client, -ECONNABORTED,
		      "the server ended it by the alert \"no application protocol\"");
}
END_TEST

START_TEST(tls_1_2_is_refused)
{
	struct tls_end *end = end_of(_i);

	if (end == &rig.server)
		make_client();
	else
		make_server();
	SSL_CTX_set_max_proto_version(peer.ctx, TLS1_2_VERSION);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	if (end == &rig.server)
		expect_failed(end, -EPROTO, "the client does not support TLS 1.3");
	else
		expect_failed(end, -ECONNABORTED,
			      "the server ended it by the alert \"protocol version\"");
	ck_assert_uint_ne(peer.reason, 0);
}
END_TEST

static const char *const ciphers[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
				      "TLS_CHACHA20_POLY1305_SHA256"};

START_TEST(a_client_chooses_the_cipher)
{
	make_client();
	ck_assert_int_eq(SSL_CTX_set_ciphersuites(peer.ctx, ciphers[_i]), 1);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, 0);
	ck_assert_str_eq(tls_stream_peer(rig.server.stream)->cipher, ciphers[_i]);
}
END_TEST

/* The first key share is of a group that we do not have: a HelloRetryRequest. */
START_TEST(a_client_begins_again_with_another_group)
{
	make_client();
	ck_assert_int_eq(SSL_CTX_set1_groups_list(peer.ctx, "ffdhe2048:P-256"), 1);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, 0);
	ck_assert_uint_ge(rig.runner.ran, 3);
}
END_TEST

START_TEST(a_client_of_finite_fields_only_is_refused)
{
	make_client();
	ck_assert_int_eq(SSL_CTX_set1_groups_list(peer.ctx, "ffdhe8192"), 1);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	expect_failed(&rig.server, -EPROTO, "the client supports none of our key exchange groups");
}
END_TEST

START_TEST(a_certificate_is_as_large_as_the_peer_likes)
{
	static const struct {
		unsigned padding_bytes;
		int error;
	} cases[] = {{95000, 0}, {140000, -EPROTO}};
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true,
					    .cert_file = cert,
					    .ca_file = rig.dir.ca,
					    .verify_client = TLS_VERIFY_REQUIRED};

	tls_rig_context(&rig.server, &config);
	tls_dir_make(&rig.dir, "client.pem",
		     (struct certificate_spec){.subject = "laptop",
					       .padding_bytes = cases[_i].padding_bytes},
		     path);
	openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, path);
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, cases[_i].error);
	if (cases[_i].error)
		ck_assert_str_eq(tls_stream_error(rig.server.stream),
				 "the client sent a message that is too long");
}
END_TEST

static unsigned sessions;

static int count_session(SSL *ssl, SSL_SESSION *session)
{
	sessions++;
	return 0;
}

START_TEST(no_ticket_is_sent)
{
	make_client();
	sessions = 0;
	SSL_CTX_set_session_cache_mode(peer.ctx, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(peer.ctx, count_session);
	openssl_peer_begin(&peer);
	openssl_peer_run(&peer);
	expect_exchange(&rig.server);
	ck_assert_uint_eq(sessions, 0);
}
END_TEST

/* ---- what arrives before, and after, the handshake ---- */

START_TEST(bytes_from_before_begin_the_handshake)
{
	uint8_t hello[4096];
	size_t length, early;

	for (early = 1; early < 600; early = early < 8 ? early + 1 : early * 2) {
		openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, NULL);
		openssl_peer_begin(&peer);
		length = openssl_peer_take(&peer, hello, sizeof(hello));
		rig.early = hello;
		rig.early_bytes = early < length ? early : length;
		tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
		tls_rig_send_raw(&rig, hello + rig.early_bytes, length - rig.early_bytes);
		openssl_peer_run(&peer);
		ck_assert_int_eq(rig.server.error, 0);
		expect_exchange(&rig.server);
		openssl_peer_fini(&peer);
		tls_rig_reset(&rig);
	}
	peer = (struct openssl_peer){.rig = &rig};
}
END_TEST

/* A Call that a client sent in clear after its probe. */
START_TEST(a_call_in_clear_from_before_is_refused)
{
	static const uint8_t call[] = {0x80, 0, 0, 0x28, 1, 2, 3, 4, 0, 0, 0, 0};

	rig.early = call;
	rig.early_bytes = sizeof(call);
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	tls_rig_run(&rig);
	expect_failed(&rig.server, -EPROTO, "the client does not speak TLS");
	ck_assert_uint_eq(rig.runner.ran, 0);
}
END_TEST

START_TEST(data_can_follow_the_end_of_the_handshake_at_once)
{
	make_client();
	openssl_peer_begin(&peer);
	openssl_peer_send(&peer);
	openssl_peer_receive(&peer);
	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, 0);
	ck_assert_uint_eq(rig.server.input_bytes, sizeof(TEXT));
}
END_TEST

/* All of it is there before the handshake is complete, even though nobody has read it. */
START_TEST(bytes_from_before_can_reach_into_the_data)
{
	uint8_t bytes[8192];
	size_t length;

	make_client();
	openssl_peer_begin(&peer);
	openssl_peer_send(&peer);
	openssl_peer_receive(&peer);
	openssl_peer_write(&peer, TEXT, sizeof(TEXT));
	length = openssl_peer_take(&peer, bytes, sizeof(bytes));
	rig.runner.hold = true;
	for (size_t i = 0; i < length; i++)
		tls_rig_send_raw(&rig, bytes + i, 1);
	fake_runner_release(&rig.runner);
	tls_rig_run(&rig);
	ck_assert_int_eq(rig.server.error, 0);
	ck_assert_uint_eq(rig.server.input_bytes, sizeof(TEXT));
}
END_TEST

START_TEST(a_server_can_send_tickets)
{
	open_end(&rig.client);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(SSL_new_session_ticket(peer.ssl), 1);
		expect_exchange(&rig.client);
	}
}
END_TEST

/* ---- what is no handshake ---- */

static const struct {
	const char *bytes;
	size_t length;
} no_tls[] = {
	{"\x80\x00\x00\x28\x01\x02\x03\x04\x00\x00\x00\x00", 12},
	{"GET / HTTP/1.1\r\n\r\n", 18},
	{"\x16\x02\x01\x00\x05hello", 10},
	{"\x13\x03\x01\x00\x05hello", 10},
	{"\x18\x03\x01\x00\x05hello", 10},
	{"\x00", 1},
	{"\x16\x02", 2},
};

START_TEST(what_is_not_tls_is_refused_at_its_first_bytes)
{
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	tls_rig_send_raw(&rig, no_tls[_i].bytes, no_tls[_i].length);
	expect_failed(&rig.server, -EPROTO, "the client does not speak TLS");
	ck_assert_uint_eq(rig.server.counters.handshakes_protocol, 1);
	ck_assert_uint_eq(rig.runner.ran, 0);
}
END_TEST

START_TEST(a_server_that_is_not_one_is_refused)
{
	tls_rig_alone(&rig, &rig.client, TLS_ROLE_CLIENT);
	tls_rig_send_raw(&rig, no_tls[_i].bytes, no_tls[_i].length);
	expect_failed(&rig.client, -EPROTO, "the server does not speak TLS");
}
END_TEST

static const struct {
	const char *bytes;
	size_t length;
	const char *words;
} no_hello[] = {
	{"\x16\x03\x01\x00\x05hello", 10, "the client broke the protocol: "},
	{"\x17\x03\x03\x00\x05hello", 10, "the client broke the protocol: "},
	{"\x14\x03\x03\x00\x01\x01", 6, "the client broke the protocol: "},
	{"\x15\x03\x03\x00\x02\x02\x28", 7, "the client broke the protocol: "},
	{"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9, "the client broke the protocol: "},
	{"\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9, "the client sent a message that is too long"},
};

START_TEST(what_is_not_a_hello_is_refused)
{
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	tls_rig_send_raw(&rig, no_hello[_i].bytes, no_hello[_i].length);
	ck_assert(rig.server.connected);
	ck_assert_int_eq(rig.server.error, -EPROTO);
	ck_assert_msg(!strncmp(tls_stream_error(rig.server.stream), no_hello[_i].words,
			       strlen(no_hello[_i].words)),
		      "%s", tls_stream_error(rig.server.stream));
}
END_TEST

START_TEST(many_empty_records_are_refused)
{
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	for (unsigned i = 0; i < 40 && !rig.server.connected; i++)
		tls_rig_send_raw(&rig, "\x16\x03\x01\x00\x00", 5);
	ck_assert_int_eq(rig.server.error, -EPROTO);
}
END_TEST

/* The largest length that a header can have; a record has at most 16 KiB and 256 bytes. */
START_TEST(a_record_of_a_handshake_that_is_too_long_is_refused)
{
	static uint8_t record[5 + 65535] = {0x16, 3, 1, 0xff, 0xff};
	uint8_t answer[64];
	struct iovec iov = {answer, sizeof(answer)};

	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	tls_rig_send_raw(&rig, record, sizeof(record));
	expect_failed(&rig.server, -EPROTO, "the client sent a record that is too long");
	ck_assert_int_eq(stream_readv(rig.raw, &iov, 1), 7);
	ck_assert_uint_eq(answer[0], 0x15);
	ck_assert_mem_eq(answer + 5, "\x02\x16", 2); /* fatal, record_overflow */
}
END_TEST

/* Puts each byte of the records in @from into a record of its own. */
static size_t split(const uint8_t *from, size_t length, uint8_t *to)
{
	size_t done = 0;

	for (size_t at = 0; at < length;) {
		size_t end = at + 5 + ((size_t)from[at + 3] << 8 | from[at + 4]);

		for (size_t i = at + 5; i < end; i++) {
			memcpy(to + done, from + at, 3);
			to[done + 3] = 0;
			to[done + 4] = 1;
			to[done + 5] = from[i];
			done += 6;
		}
		at = end;
	}
	return done;
}

START_TEST(a_hello_in_records_of_one_byte)
{
	uint8_t hello[2048], records[6 * sizeof(hello)];
	size_t length;

	make_client();
	openssl_peer_begin(&peer);
	length = split(hello, openssl_peer_take(&peer, hello, sizeof(hello)), records);
	tls_rig_send_raw(&rig, records, length);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, 0);
	expect_exchange(&rig.server);
}
END_TEST

START_TEST(records_from_before_and_later_ones_are_put_together)
{
	uint8_t hello[2048], records[6 * sizeof(hello)];
	size_t length;

	openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, NULL);
	openssl_peer_begin(&peer);
	length = split(hello, openssl_peer_take(&peer, hello, sizeof(hello)), records);
	rig.early = records;
	rig.early_bytes = 9; /* one and a half */
	tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
	tls_rig_send_raw(&rig, records + 9, length - 9);
	openssl_peer_run(&peer);
	ck_assert_int_eq(rig.server.error, 0);
	expect_exchange(&rig.server);
}
END_TEST

START_TEST(a_handshake_of_too_many_records_is_refused)
{
	uint8_t hello[2048], records[6 * sizeof(hello)], names[600];
	size_t length;

	memset(names, 1, sizeof(names));
	make_client();
	ck_assert_int_eq(SSL_CTX_set_alpn_protos(peer.ctx, names, sizeof(names)), 0);
	openssl_peer_begin(&peer);
	length = split(hello, openssl_peer_take(&peer, hello, sizeof(hello)), records);
	ck_assert_uint_gt(length, 6 * 512);
	tls_rig_send_raw(&rig, records, length);
	expect_failed(&rig.server, -EPROTO, "the client sent too much for a handshake");
	ck_assert_uint_eq(rig.runner.ran, 512);
}
END_TEST

/* Each prefix of a hello, and then silence or the end. */
START_TEST(half_a_handshake_waits_and_ends_with_the_connection)
{
	uint8_t hello[2048];
	size_t length;

	openssl_peer_init(&peer, &rig, TLS_ROLE_CLIENT, NULL);
	openssl_peer_begin(&peer);
	length = openssl_peer_take(&peer, hello, sizeof(hello));
	for (size_t i = 0; i <= length; i++) {
		tls_rig_alone(&rig, &rig.server, TLS_ROLE_SERVER);
		tls_rig_send_raw(&rig, hello, i);
		ck_assert(!rig.server.connected);
		stream_shutdown(rig.raw);
		tls_rig_run(&rig);
		expect_failed(&rig.server, -ECONNRESET,
			      "the client closed the connection during the handshake");
		ck_assert_uint_eq(rig.server.counters.handshakes_closed, 1);
		tls_rig_reset(&rig);
	}
}
END_TEST

static void add_choices(TCase *tc)
{
	tcase_add_loop_test(tc, a_peer_of_either_role, 0, 2);
	tcase_add_test(tc, a_client_offers_several_protocols);
	tcase_add_test(tc, a_client_without_alpn_is_accepted);
	tcase_add_test(tc, a_client_of_another_protocol_is_refused);
	tcase_add_loop_test(tc, a_server_selects_the_protocol_or_none, 0, 2);
	tcase_add_test(tc, a_server_of_another_protocol_says_so);
	tcase_add_loop_test(tc, tls_1_2_is_refused, 0, 2);
	tcase_add_loop_test(tc, a_client_chooses_the_cipher, 0, ARRAY_SIZE(ciphers));
	tcase_add_test(tc, a_client_begins_again_with_another_group);
	tcase_add_test(tc, a_client_of_finite_fields_only_is_refused);
	tcase_add_loop_test(tc, a_certificate_is_as_large_as_the_peer_likes, 0, 2);
	tcase_add_test(tc, no_ticket_is_sent);
}

static void add_bytes(TCase *tc)
{
	tcase_add_test(tc, bytes_from_before_begin_the_handshake);
	tcase_add_test(tc, a_call_in_clear_from_before_is_refused);
	tcase_add_test(tc, data_can_follow_the_end_of_the_handshake_at_once);
	tcase_add_test(tc, bytes_from_before_can_reach_into_the_data);
	tcase_add_test(tc, a_server_can_send_tickets);
	tcase_add_loop_test(tc, what_is_not_tls_is_refused_at_its_first_bytes, 0,
			    ARRAY_SIZE(no_tls));
	tcase_add_loop_test(tc, a_server_that_is_not_one_is_refused, 0, ARRAY_SIZE(no_tls));
	tcase_add_loop_test(tc, what_is_not_a_hello_is_refused, 0, ARRAY_SIZE(no_hello));
	tcase_add_test(tc, many_empty_records_are_refused);
	tcase_add_test(tc, a_record_of_a_handshake_that_is_too_long_is_refused);
	tcase_add_test(tc, a_hello_in_records_of_one_byte);
	tcase_add_test(tc, records_from_before_and_later_ones_are_put_together);
	tcase_add_test(tc, a_handshake_of_too_many_records_is_refused);
	tcase_add_test(tc, half_a_handshake_waits_and_ends_with_the_connection);
}

int main(void)
{
	Suite *suite = suite_create("tls_peers");
	TCase *tc = tcase_create("tls_peers");

	tcase_add_checked_fixture(tc, setup, teardown);
	add_choices(tc);
	add_bytes(tc);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
