// SPDX-License-Identifier: BSD-3-Clause
/* Tests who is accepted in a handshake, by which name, and what both ends and the counters tell. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"

#define DAY CERTIFICATE_DAY_S

static struct tls_rig rig;
static char own[TLS_PATH_BYTES]; /* the client's certificate */

static void setup(void)
{
	tls_clock_ahead_s = 0;
	tls_rig_init(&rig);
}

static void teardown(void)
{
	tls_rig_fini(&rig);
}

static const char *error_of(const struct tls_end *end)
{
	return tls_stream_error(end->stream);
}

/* Runs a handshake that the client completes or fails with @error. */
static void expect_client(int error, const char *words)
{
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	ck_assert(rig.client.connected);
	ck_assert_msg(rig.client.error == error && !strcmp(error_of(&rig.client), words), "%d: %s",
		      rig.client.error, error_of(&rig.client));
}

/* Runs a handshake that the server completes or fails with @error. */
static void expect_server(int error, const char *words)
{
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	ck_assert(rig.server.connected);
	ck_assert_msg(rig.server.error == error && !strcmp(error_of(&rig.server), words), "%d: %s",
		      rig.server.error, error_of(&rig.server));
}

/* ---- the server's certificate ---- */

static void serve(struct certificate_spec spec)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&rig.dir, "server.pem", spec, path);
	tls_rig_context(&rig.server, &config);
}

static void ask_for(const char *name)
{
	struct tls_context_config config = {
		.connects = true, .ca_file = rig.dir.ca, .server_name = name};

	tls_rig_context(&rig.client, &config);
}

START_TEST(both_ends_know_each_other)
{
	const struct tls_peer *peer;

	tls_rig_open(&rig);
	ck_assert_uint_eq(rig.client.counters.handshakes_ok, 1);
	ck_assert_uint_eq(rig.server.counters.handshakes_ok, 1);
	peer = tls_stream_peer(rig.client.stream);
	ck_assert_str_eq(peer->name, "proxy.example");
	ck_assert(peer->verified);
	ck_assert_str_eq(peer->cipher, "TLS_AES_128_GCM_SHA256");
	peer = tls_stream_peer(rig.server.stream);
	ck_assert_str_eq(peer->name, "");
	ck_assert(!peer->verified);
	ck_assert_str_eq(peer->cipher, "TLS_AES_128_GCM_SHA256");
	ck_assert_str_eq(error_of(&rig.server), "");
}
END_TEST

static const struct {
	const char *alt_names, *name;
	bool good;
} server_names[] = {
	{"DNS:filer.example", "filer.example", true},
	{"DNS:filer.example", "FILER.EXAMPLE", true},
	{"DNS:*.lab.example", "filer.lab.example", true},
	{"IP:192.0.2.1", "192.0.2.1", true},
	{"IP:2001:db8::1", "2001:db8:0::1", true},
	{"DNS:filer.example", "other.example", false},
	{"DNS:*.lab.example", "a.b.lab.example", false},
	{"DNS:192.0.2.1", "192.0.2.1", false},
	{"IP:192.0.2.1", "192.0.2.2", false},
};

START_TEST(a_server_has_the_name_that_was_asked_for)
{
	const char *name = server_names[_i].name;

	serve((struct certificate_spec){.subject = name, .alt_names = server_names[_i].alt_names});
	ask_for(name);
	if (server_names[_i].good) {
		expect_client(0, "");
		ck_assert_str_eq(tls_stream_peer(rig.client.stream)->name, name);
		return;
	}
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	ck_assert_int_eq(rig.client.error, -EKEYREJECTED);
	ck_assert_ptr_nonnull(strstr(error_of(&rig.client), ") is for another name than "));
	ck_assert_ptr_nonnull(strstr(error_of(&rig.client), name));
	ck_assert_uint_eq(rig.client.counters.handshakes_certificate, 1);
	ck_assert_int_eq(rig.server.error, -ECONNABORTED);
	ck_assert_uint_eq(rig.server.counters.handshakes_rejected, 1);
}
END_TEST

/* The host of a URI can end with a dot, so that no domain is searched. */
START_TEST(a_dot_at_the_end_of_the_name_does_not_count)
{
	serve((struct certificate_spec){.subject = "filer", .alt_names = "DNS:filer.example"});
	ask_for("filer.example.");
	expect_client(0, "");
	ck_assert_str_eq(tls_stream_peer(rig.client.stream)->name, "filer.example");
}
END_TEST

START_TEST(a_server_without_alternative_names_is_not_accepted)
{
	serve((struct certificate_spec){.subject = "proxy.example"});
	expect_client(-EKEYREJECTED, "the certificate of the server (CN=proxy.example) has no name "
				     "or address (subjectAltName)");
}
END_TEST

START_TEST(a_foreign_authority_is_not_accepted)
{
	serve((struct certificate_spec){
		.issuer = rig.dir.foreign, .subject = "x", .alt_names = "DNS:proxy.example"});
	expect_client(
		-EKEYREJECTED,
		"the certificate of the server (proxy.example) is not signed by a known authority");
	ck_assert_int_eq(rig.server.error, -ECONNABORTED);
	ck_assert_str_eq(error_of(&rig.server), "the client ended it by the alert \"unknown CA\"");
}
END_TEST

START_TEST(a_chain_leads_to_the_authority)
{
	struct certificate_spec spec = {
		.issuer = rig.dir.authority, .subject = "middle", .authority = true};
	struct certificate *middle = certificate_new(&spec);
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&rig.dir, "server.pem",
		     (struct certificate_spec){
			     .issuer = middle, .subject = "x", .alt_names = "DNS:proxy.example"},
		     path);
	tls_rig_context(&rig.server, &config);
	expect_client(-EKEYREJECTED, "the certificate of the server (proxy.example) is not signed "
				     "by a known authority");
	tls_rig_reset(&rig);
	certificate_save(middle, path, true);
	tls_rig_context(&rig.server, &config);
	expect_client(0, "");
	certificate_free(middle);
}
END_TEST

/* tls_context_new() refuses such a certificate. It expires while the daemon runs. */
START_TEST(a_server_whose_certificate_has_expired_is_not_accepted)
{
	serve((struct certificate_spec){
		.subject = "x", .alt_names = "DNS:proxy.example", .starts_s = -DAY, .ends_s = DAY});
	tls_clock_ahead_s = 2 * DAY;
	expect_client(-EKEYREJECTED, "the certificate of the server (proxy.example) has expired");
}
END_TEST

/* The server's certificate itself is valid. */
START_TEST(an_authority_that_has_expired_is_named)
{
	struct certificate *authority = certificate_new(&(struct certificate_spec){
		.subject = "brief", .authority = true, .starts_s = -DAY, .ends_s = DAY});
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {
		.connects = true, .ca_file = path, .server_name = "proxy.example"};

	serve((struct certificate_spec){
		.issuer = authority, .subject = "x", .alt_names = "DNS:proxy.example"});
	tls_dir_path(&rig.dir, "brief.pem", path);
	certificate_save(authority, path, false);
	certificate_free(authority);
	tls_rig_context(&rig.client, &config);
	tls_clock_ahead_s = 2 * DAY;
	expect_client(-EKEYREJECTED,
		      "the certificate of the server's authority (CN=brief) has expired");
}
END_TEST

START_TEST(a_context_without_a_name_cannot_connect)
{
	struct tls_context_config config = {.connects = true, .ca_file = rig.dir.ca};
	struct tls_context *named;
	struct stream *ends[2], *stream;

	tls_rig_context(&rig.client, &config);
	ck_assert_int_eq(pair_new(rig.net, ends), 0);
	ck_assert_int_eq(tls_stream_new(&rig.worker, &rig.client.counters, rig.client.context,
					TLS_ROLE_CLIENT, ends[0], NULL, 0, &stream),
			 -ENOMEM);
	for (unsigned i = 0; i < 2; i++) {
		stream_close(ends[i], true);
		stream_free(ends[i]);
	}
	ck_assert_int_eq(tls_context_for_server(rig.client.context, "proxy.example", &named), 0);
	tls_context_put(rig.client.context);
	rig.client.context = named;
	expect_client(0, "");
}
END_TEST

/* ---- the client's certificate ---- */

static void require(enum tls_verify verify, const char *rule)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true,
					    .cert_file = path,
					    .ca_file = rig.dir.ca,
					    .verify_client = verify,
					    .client_names = &rule,
					    .nclient_names = rule != NULL};

	tls_dir_path(&rig.dir, "server.pem", path);
	tls_rig_context(&rig.server, &config);
}

static void show(const struct certificate_spec *spec)
{
	struct tls_context_config config = {.connects = true,
					    .cert_file = own,
					    .ca_file = rig.dir.ca,
					    .server_name = "proxy.example"};

	tls_dir_make(&rig.dir, "client.pem", *spec, own);
	tls_rig_context(&rig.client, &config);
}

static const struct {
	const char *alt_names, *rule, *name; /* name: NULL: not accepted */
} client_names[] = {
	{"DNS:a.example,DNS:b.example", NULL, "a.example"},
	{"DNS:a.example,DNS:b.example", "b.example", "b.example"},
	{"DNS:a.example", "A.Example", "a.example"},
	{"DNS:a.example", "*.example", "a.example"},
	{"DNS:*.lab.example", "a.lab.example", "*.lab.example"},
	{"DNS:a.b.example", "*.example", NULL},
	{"DNS:example", "*.example", NULL},
	{"DNS:a.example", "b.example", NULL},
	{"IP:192.0.2.9", "192.0.2.9", "192.0.2.9"},
	{"IP:192.0.2.9", "192.0.2.8", NULL},
	{"IP:2001:db8::9", NULL, "2001:db8::9"},
	{"DNS:192.0.2.9", "192.0.2.9", NULL},
	{NULL, NULL, "CN=laptop"},
	{NULL, "laptop", NULL},
	{"email:root@a.example", NULL, "CN=laptop"},
};

START_TEST(a_client_has_a_name_of_the_rules)
{
	show(&(struct certificate_spec){.subject = "laptop",
					.alt_names = client_names[_i].alt_names});
	require(TLS_VERIFY_REQUIRED, client_names[_i].rule);
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	if (client_names[_i].name) {
		ck_assert_int_eq(rig.server.error, 0);
		ck_assert_str_eq(tls_stream_peer(rig.server.stream)->name, client_names[_i].name);
		ck_assert(tls_stream_peer(rig.server.stream)->verified);
		return;
	}
	ck_assert_int_eq(rig.server.error, -EKEYREJECTED);
	ck_assert_ptr_nonnull(strstr(error_of(&rig.server), ") has no name in tls_client_names"));
	ck_assert_uint_eq(rig.server.counters.handshakes_certificate, 1);
}
END_TEST

START_TEST(a_fingerprint_accepts_one_certificate)
{
	struct certificate_spec spec = {.issuer = rig.dir.authority, .subject = "laptop"};
	struct certificate *certificate = certificate_new(&spec);
	struct tls_context_config config = {.connects = true,
					    .cert_file = own,
					    .ca_file = rig.dir.ca,
					    .server_name = "proxy.example"};
	char rule[8 + CERTIFICATE_FINGERPRINT_CHARS] = "sha256:";

	certificate_fingerprint(certificate, rule + strlen(rule));
	tls_dir_path(&rig.dir, "client.pem", own);
	certificate_save(certificate, own, false);
	certificate_save_key(certificate, own, true, NULL);
	certificate_free(certificate);
	require(TLS_VERIFY_REQUIRED, rule);
	tls_rig_context(&rig.client, &config);
	expect_server(0, "");
	ck_assert_str_eq(tls_stream_peer(rig.server.stream)->name, "CN=laptop");
	tls_rig_reset(&rig);
	show(&spec);
	expect_server(-EKEYREJECTED,
		      "the certificate of the client (CN=laptop) has no name in tls_client_names");
}
END_TEST

START_TEST(a_certificate_is_missing)
{
	require(TLS_VERIFY_REQUIRED, NULL);
	expect_server(-EKEYREJECTED, "the client has no certificate");
	ck_assert_uint_eq(rig.server.counters.handshakes_certificate, 1);
	/* TLS 1.3: the client learns it after its own end of the handshake. */
	ck_assert_int_eq(rig.client.error, 0);
	ck_assert_int_eq(rig.client.last_read, -ECONNRESET);
	ck_assert_str_eq(error_of(&rig.client),
			 "the server ended it by the alert \"certificate required\"");
	ck_assert_uint_eq(rig.client.counters.record_errors, 1);
}
END_TEST

START_TEST(a_certificate_can_be_optional)
{
	require(TLS_VERIFY_OPTIONAL, NULL);
	expect_server(0, "");
	ck_assert(!tls_stream_peer(rig.server.stream)->verified);
	tls_rig_reset(&rig);
	show(&(struct certificate_spec){.subject = "laptop", .alt_names = "DNS:a.example"});
	expect_server(0, "");
	ck_assert(tls_stream_peer(rig.server.stream)->verified);
	tls_rig_reset(&rig);
	/* One that is there must be good. */
	show(&(struct certificate_spec){.issuer = rig.dir.foreign, .subject = "laptop"});
	expect_server(
		-EKEYREJECTED,
		"the certificate of the client (CN=laptop) is not signed by a known authority");
}
END_TEST

START_TEST(a_certificate_that_nobody_asks_for_is_not_sent)
{
	show(&(struct certificate_spec){.subject = "laptop"});
	expect_server(0, "");
	ck_assert(!tls_stream_peer(rig.server.stream)->verified);
	ck_assert_str_eq(tls_stream_peer(rig.server.stream)->name, "");
}
END_TEST

START_TEST(a_certificate_is_for_clients)
{
	require(TLS_VERIFY_REQUIRED, NULL);
	show(&(struct certificate_spec){.subject = "laptop", .purpose = "clientAuth"});
	expect_server(0, "");
	tls_rig_reset(&rig);
	show(&(struct certificate_spec){.subject = "laptop", .purpose = "serverAuth"});
	expect_server(-EKEYREJECTED, "the certificate of the client (CN=laptop) is not for this "
				     "purpose (extendedKeyUsage)");
}
END_TEST

START_TEST(a_self_signed_certificate_is_accepted_if_it_is_an_authority)
{
	struct certificate_spec spec = {.subject = "laptop"};
	struct certificate *certificate = certificate_new(&spec);
	char server[TLS_PATH_BYTES];
	struct tls_context_config client = {.connects = true,
					    .cert_file = own,
					    .ca_file = rig.dir.ca,
					    .server_name = "proxy.example"};
	struct tls_context_config config = {.accepts = true,
					    .cert_file = server,
					    .ca_file = own,
					    .verify_client = TLS_VERIFY_REQUIRED};

	tls_dir_path(&rig.dir, "client.pem", own);
	tls_dir_path(&rig.dir, "server.pem", server);
	certificate_save(certificate, own, false);
	certificate_save_key(certificate, own, true, NULL);
	certificate_free(certificate);
	tls_rig_context(&rig.client, &client);
	require(TLS_VERIFY_REQUIRED, NULL);
	expect_server(-EKEYREJECTED,
		      "the certificate of the client (CN=laptop) is signed by itself");
	tls_rig_reset(&rig);
	tls_rig_context(&rig.server, &config);
	expect_server(0, "");
}
END_TEST

START_TEST(a_certificate_is_signed_by_an_authority)
{
	struct certificate_spec spec = {.issuer = rig.dir.authority, .subject = "user"};
	struct certificate *user = certificate_new(&spec);
	struct tls_context_config config = {.connects = true,
					    .cert_file = own,
					    .ca_file = rig.dir.ca,
					    .server_name = "proxy.example"};

	require(TLS_VERIFY_REQUIRED, NULL);
	tls_dir_make(&rig.dir, "client.pem",
		     (struct certificate_spec){.issuer = user, .subject = "laptop"}, own);
	certificate_save(user, own, true);
	certificate_free(user);
	tls_rig_context(&rig.client, &config);
	expect_server(-EKEYREJECTED, "the certificate of the client (CN=laptop) is not accepted: "
				     "invalid CA certificate");
}
END_TEST

START_TEST(names_of_peers_are_printable)
{
	require(TLS_VERIFY_REQUIRED, NULL);
	show(&(struct certificate_spec){.subject = "my \"new\"\nlaptop"});
	expect_server(0, "");
	ck_assert_str_eq(tls_stream_peer(rig.server.stream)->name, "CN=my?\\?new\\?\\0Alaptop");
}
END_TEST

/* ---- work ---- */

START_TEST(a_full_runner_ends_the_handshake)
{
	rig.runner.full = true;
	expect_client(-EAGAIN, "too many TLS handshakes wait");
	ck_assert_uint_eq(rig.client.counters.handshakes_limited, 1);
	ck_assert_uint_eq(rig.client.counters.handshakes_closed, 0);
}
END_TEST

START_TEST(a_runner_that_ends_ends_the_handshake)
{
	rig.runner.hold = true;
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	rig.runner.ends = true;
	fake_runner_release(&rig.runner);
	tls_rig_run(&rig);
	ck_assert_int_eq(rig.client.error, -EAGAIN);
	ck_assert_str_eq(error_of(&rig.client), "the handshake was not computed");
	ck_assert_uint_eq(rig.client.counters.handshakes_limited, 1);
}
END_TEST

START_TEST(a_stream_is_closed_while_its_work_waits)
{
	rig.runner.hold = true;
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.worker.running, 1);
	ck_assert_uint_eq(stream_unacked_bytes(rig.client.stream), 0);
	ck_assert_uint_eq(stream_unsent_bytes(rig.client.stream), 0);
	ck_assert_str_eq(error_of(&rig.client), "");
	tls_end_close(&rig.client, true);
	ck_assert_uint_eq(rig.client.counters.handshakes_closed, 1);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.worker.running, 1);
	fake_runner_release(&rig.runner);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.worker.running, 0);
	ck_assert(!rig.client.connected);
	ck_assert_int_eq(rig.server.error, -ECONNRESET);
}
END_TEST

/* The stream is closed, and freed only after its work has ended. */
START_TEST(a_closed_stream_does_not_go_on_with_its_handshake)
{
	rig.runner.hold = true;
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	stream_close(rig.client.stream, false);
	stream_close(rig.client.stream, false);
	fake_runner_release(&rig.runner);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.worker.running, 0);
	ck_assert(!rig.client.connected);
	ck_assert_uint_eq(rig.client.counters.handshakes_closed, 1);
}
END_TEST

START_TEST(a_stream_is_closed_before_its_first_step)
{
	tls_rig_connect(&rig);
	tls_end_close(&rig.client, true);
	tls_end_close(&rig.server, true);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.runner.ran, 0);
	ck_assert_uint_eq(rig.server.counters.handshakes_closed, 1);
}
END_TEST

START_TEST(nothing_can_be_read_or_written_before_the_end)
{
	char byte = 'x';
	struct iovec iov = {&byte, 1};

	rig.runner.hold = true;
	tls_rig_connect(&rig);
	tls_rig_run(&rig);
	ck_assert_int_eq(stream_readv(rig.client.stream, &iov, 1), -EAGAIN);
	ck_assert_int_eq(stream_writev(rig.client.stream, &iov, 1), -EAGAIN);
	ck_assert_int_eq(stream_peek(rig.client.stream), -EAGAIN);
	ck_assert_int_eq(stream_shutdown(rig.client.stream), -ENOTCONN);
	stream_watch(rig.client.stream, LOOP_READ | LOOP_WRITE | LOOP_LOST);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.client.nready, 0);
}
END_TEST

static void add_clients(TCase *tc)
{
	tcase_add_loop_test(tc, a_client_has_a_name_of_the_rules, 0, ARRAY_SIZE(client_names));
	tcase_add_test(tc, a_fingerprint_accepts_one_certificate);
	tcase_add_test(tc, a_certificate_is_missing);
	tcase_add_test(tc, a_certificate_can_be_optional);
	tcase_add_test(tc, a_certificate_that_nobody_asks_for_is_not_sent);
	tcase_add_test(tc, a_certificate_is_for_clients);
	tcase_add_test(tc, a_self_signed_certificate_is_accepted_if_it_is_an_authority);
	tcase_add_test(tc, a_certificate_is_signed_by_an_authority);
	tcase_add_test(tc, names_of_peers_are_printable);
}

static void add_work(TCase *tc)
{
	tcase_add_test(tc, a_full_runner_ends_the_handshake);
	tcase_add_test(tc, a_runner_that_ends_ends_the_handshake);
	tcase_add_test(tc, a_stream_is_closed_while_its_work_waits);
	tcase_add_test(tc, a_closed_stream_does_not_go_on_with_its_handshake);
	tcase_add_test(tc, a_stream_is_closed_before_its_first_step);
	tcase_add_test(tc, nothing_can_be_read_or_written_before_the_end);
}

int main(void)
{
	Suite *suite = suite_create("tls_handshake");
	TCase *tc = tcase_create("tls_handshake");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_ends_know_each_other);
	tcase_add_loop_test(tc, a_server_has_the_name_that_was_asked_for, 0,
			    ARRAY_SIZE(server_names));
	tcase_add_test(tc, a_dot_at_the_end_of_the_name_does_not_count);
	tcase_add_test(tc, a_server_without_alternative_names_is_not_accepted);
	tcase_add_test(tc, a_foreign_authority_is_not_accepted);
	tcase_add_test(tc, a_chain_leads_to_the_authority);
	tcase_add_test(tc, a_server_whose_certificate_has_expired_is_not_accepted);
	tcase_add_test(tc, an_authority_that_has_expired_is_named);
	tcase_add_test(tc, a_context_without_a_name_cannot_connect);
	add_clients(tc);
	add_work(tc);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
