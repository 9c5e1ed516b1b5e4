// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two whole proxies with TLS between them: `near` takes clients in clear and connects by TLS,
 * `far` requires TLS and has the server. Both have a certificate.
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"
#include "tests/lib/tls_files.h"
#include "tests/unit/proxy_scene.h"

#define DAY_S 86400

/* For fixture_start(): the near one is first. */
enum { NEAR, FAR };

static uint16_t middle;      /* where the far one listens */
static uint16_t http;        /* of the far one */
static const char *near_tls; /* the near one's key for its connections */

static void setup(void)
{
	near_tls = "tls_connect = \"required\";";
	scene_setup();
	tls_files_setup();
	tls_files_sign("near", "DNS:near.example.net", 100);
	tls_files_sign("far", "IP:127.0.0.1,DNS:far.example.net", 100);
	middle = fixture_port();
	http = fixture_port();
}

static void teardown(void)
{
	scene_teardown();
	tls_files_teardown();
}

#define NEAR_KEYS                                                                                  \
	"tls_cert_file = \"@/near.pem\"; tls_key_file = \"@/near.key\"; tls_ca_file = \"@/ca.pem\";"
#define FAR_KEYS                                                                                   \
	"tls = \"required\"; tls_cert_file = \"@/far.pem\"; tls_key_file = \"@/far.key\";"         \
	"tls_verify_client = \"required\"; tls_ca_file = \"@/ca.pem\";"

static void start(const char *near_keys, const char *far_keys)
{
	static char globals[64];

	snprintf(globals, sizeof(globals), "http_listen = \"127.0.0.1:%u\";", http);
	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " %s %s }",
		      front, middle, near_tls, tls_files_text(near_keys));
	fixture_globals = globals;
	fixture_start("{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " %s }",
		      middle, back, tls_files_text(far_keys));
}

/* Chooses the near or the far one for requests. */
static void choose(unsigned which)
{
	control_path[strlen(control_path) - strlen("0.sock")] = (char)('0' + which);
}

static json_t *ask(unsigned which, const char *request)
{
	choose(which);
	return control_ask(request);
}

/* The member that @path names, such as "connections 0 client tls", of an answer that stays. */
static json_t *at(json_t *answer, const char *path)
{
	char words[128], *save, *word;

	snprintf(words, sizeof(words), "%s", path);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		answer = json_is_array(answer) ? json_array_get(answer, (size_t)atoi(word))
					       : json_object_get(answer, word);
	return answer;
}

static const char *text_at(json_t *answer, const char *path)
{
	const char *text = json_string_value(at(answer, path));

	return text ? text : "";
}

/* Waits until the member of the answer is a text that contains @part. */
static void await_text(unsigned which, const char *request, const char *path, const char *part)
{
	struct time_limit limit;
	json_t *answer;
	bool found;

	time_limit_begin(&limit, 20);
	do {
		answer = ask(which, request);
		found = strstr(text_at(answer, path), part) != NULL;
		ck_assert_msg(!time_limit_passed(&limit), "%s is \"%s\"", path,
			      text_at(answer, path));
		json_decref(answer);
	} while (!found);
}

/* A client of the near one whose Call reaches the server, and its Reply. */
static void pass(uint32_t xid, int *client, int *upstream)
{
	*client = fixture_connect(front);
	send_call(*client, xid, 0);
	*upstream = fixture_accept_call(server, xid, NULL);
	send_reply(*upstream, xid, 70000);
	ck_assert_uint_eq(read_message(*client, xid), FIXTURE_REPLY_BYTES + 70000);
}

static void expect_peer(json_t *answer, const char *side, const char *name)
{
	json_t *tls = at(at(at(answer, "connections 0"), side), "tls");

	ck_assert_str_eq(text_at(tls, "version"), "1.3");
	ck_assert_int_eq(strncmp(text_at(tls, "cipher"), "TLS_", 4), 0);
	ck_assert_str_eq(text_at(tls, "peer_name"), name);
	ck_assert(json_is_true(at(tls, "verified")));
}

START_TEST(calls_pass_and_each_side_knows_the_other)
{
	int client, upstream;
	json_t *answer;

	start(NEAR_KEYS, FAR_KEYS);
	pass(7, &client, &upstream);
	answer = ask(NEAR, "connections\n");
	ck_assert(json_is_null(at(answer, "connections 0 client tls")));
	expect_peer(answer, "upstream", "127.0.0.1");
	json_decref(answer);
	answer = ask(FAR, "connections\n");
	expect_peer(answer, "client", "near.example.net");
	ck_assert(json_is_null(at(answer, "connections 0 upstream tls")));
	json_decref(answer);
	answer = ask(FAR, "stats two\n");
	ck_assert_int_eq(json_integer_value(at(answer, "services two tls handshakes_ok")), 1);
	json_decref(answer);
	close(client);
	close(upstream);
}
END_TEST

/* Calls follow until the trace has seen one: it begins on each worker by itself. */
START_TEST(a_trace_names_the_client_by_its_certificate)
{
	struct pollfd watched = {.events = POLLIN};
	int client, upstream;
	uint32_t xid = 7;
	char *line = NULL;
	size_t bytes;
	json_t *rpc;
	FILE *trace;

	start(NEAR_KEYS, FAR_KEYS);
	pass(xid, &client, &upstream);
	choose(FAR);
	watched.fd = control_send("trace --count 1\n");
	trace = fdopen(watched.fd, "r");
	/* {"schema": 1} */
	ck_assert_int_gt(getline(&line, &bytes, trace), 0);
	while (poll(&watched, 1, 0) == 0) {
		send_call(client, ++xid, 0);
		ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES);
		send_reply(upstream, xid, 0);
		ck_assert_uint_eq(read_message(client, xid), FIXTURE_REPLY_BYTES);
	}
	ck_assert_int_gt(getline(&line, &bytes, trace), 0);
	rpc = json_loads(line, 0, NULL);
	ck_assert_str_eq(text_at(rpc, "service"), "two");
	ck_assert_str_eq(text_at(rpc, "client_name"), "near.example.net");
	json_decref(rpc);
	free(line);
	fclose(trace);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_client_need_not_have_a_certificate_unless_it_is_demanded)
{
	int client, upstream;
	json_t *answer;

	start("tls_ca_file = \"@/ca.pem\";",
	      "tls = \"allowed\"; tls_cert_file = \"@/far.pem\"; tls_key_file = \"@/far.key\";");
	pass(7, &client, &upstream);
	answer = ask(FAR, "connections\n");
	ck_assert(json_is_object(at(answer, "connections 0 client tls")));
	ck_assert(json_is_null(at(answer, "connections 0 client tls peer_name")));
	ck_assert(json_is_false(at(answer, "connections 0 client tls verified")));
	json_decref(answer);
	close(client);
	close(upstream);
}
END_TEST

/* ---- checks ---- */

static int64_t handshakes(void)
{
	json_t *answer = ask(FAR, "stats two\n");
	int64_t count = json_integer_value(at(answer, "services two tls handshakes_ok"));

	json_decref(answer);
	return count;
}

static const char *step_result(json_t *answer, const char *name)
{
	json_t *step;
	size_t i;

	json_array_foreach(at(answer, "servers 0 steps"), i, step)
	{
		if (!strcmp(text_at(step, "step"), name))
			return text_at(step, "result");
	}
	return "";
}

/* Answers the next Call by these words, after the XID. */
static void answer_with(int fd, const uint32_t *words, uint32_t count)
{
	uint32_t record[16], xid;

	read_any(fd, &xid);
	record[0] = htonl(0x80000000u | 4 * (1 + count));
	record[1] = htonl(xid);
	for (uint32_t i = 0; i < count; i++)
		record[2 + i] = htonl(words[i]);
	ck_assert_int_eq(write(fd, record, 4 * (2 + count)), (ssize_t)(4 * (2 + count)));
}

/* Of a server that serves NFSv3 alone: the check ends after the steps that it is about. */
static const uint32_t mismatch[] = {1, 0, 0, 0, 2, 2, 3};
static const uint32_t success[] = {1, 0, 0, 0, 0};

START_TEST(the_command_check_connects_by_tls)
{
	int control, upstream;
	json_t *answer;

	start(NEAR_KEYS, FAR_KEYS);
	control = control_send("check one\n");
	upstream = fixture_accept(server, NULL);
	answer_with(upstream, mismatch, ARRAY_SIZE(mismatch));
	answer_with(upstream, success, ARRAY_SIZE(success));
	answer = control_answer(control);
	close(upstream);
	ck_assert_str_eq(step_result(answer, "connect"), "passed");
	ck_assert_str_eq(step_result(answer, "null"), "passed");
	json_decref(answer);
	ck_assert_int_eq(handshakes(), 1);
}
END_TEST

/* Answers RPCBPROC_GETADDR by the port of the far one. */
static void answer_port(int fd)
{
	uint32_t words[6 + 6] = {1, 0, 0, 0, 0};
	char address[4 * 6 + 1] = "";
	int len = snprintf(address, sizeof(address), "127.0.0.1.%u.%u", middle >> 8, middle & 255);

	words[5] = (uint32_t)len;
	for (int i = 0; i < 6; i++) {
		memcpy(&words[6 + i], address + 4 * i, 4);
		words[6 + i] = ntohl(words[6 + i]);
	}
	answer_with(fd, words, 6 + ((uint32_t)len + 3) / 4);
}

/* rpcbind has no TLS; MOUNT must have it. */
START_TEST(rpcbind_is_asked_in_clear_and_mount_by_tls)
{
	int control, upstream, asked, rpcbind = fixture_listen(111);
	uint32_t xid;

	start(NEAR_KEYS "mount = \"rpcbind\";", FAR_KEYS);
	control = control_send("check one --mount\n");
	upstream = fixture_accept(server, NULL);
	answer_with(upstream, mismatch, ARRAY_SIZE(mismatch));
	answer_with(upstream, success, ARRAY_SIZE(success));
	ck_assert_int_eq(handshakes(), 1);
	asked = fixture_accept(rpcbind, NULL);
	answer_port(asked);
	close(asked);
	/* The list of exports, of a server that then gives up. */
	asked = fixture_accept(server, NULL);
	ck_assert_uint_gt(read_any(asked, &xid), FIXTURE_CALL_BYTES);
	ck_assert_int_eq(handshakes(), 2);
	close(asked);
	json_decref(control_answer(control));
	close(upstream);
	close(rpcbind);
}
END_TEST

/* ---- refusals ---- */

static const struct {
	const char *name, *near_keys, *far_keys;
	const char *near_says, *far_says; /* of the server; of clients: NULL: nothing */
} refusals[] = {
	{"no certificate", "tls_ca_file = \"@/ca.pem\";", FAR_KEYS, "certificate required",
	 "the client has no certificate"},
	{"an authority that the near one does not know",
	 "tls_cert_file = \"@/near.pem\"; tls_key_file = \"@/near.key\";"
	 "tls_ca_file = \"@/other.pem\";",
	 FAR_KEYS, "is not signed by a known authority", "ended it by the alert"},
	{"an authority that the far one does not know", NEAR_KEYS,
	 "tls = \"required\"; tls_cert_file = \"@/far.pem\"; tls_key_file = \"@/far.key\";"
	 "tls_verify_client = \"required\"; tls_ca_file = \"@/other.pem\";",
	 "alert", "is not signed by a known authority"},
	{"another name of the server", NEAR_KEYS "tls_server_name = \"other.example.net\";",
	 FAR_KEYS, "is for another name than other.example.net", "ended it by the alert"},
	{"a name that is not listed", NEAR_KEYS,
	 FAR_KEYS "tls_client_names = [\"other.example.net\"];", "alert",
	 "has no name in tls_client_names"},
};

START_TEST(each_side_says_why_the_other_was_refused)
{
	int client;

	tls_files_run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
		      "-subj /CN=other -days 30 -keyout other.key -out other.pem 2>openssl.log");
	start(refusals[_i].near_keys, refusals[_i].far_keys);
	client = fixture_connect(front);
	send_call(client, 7, 0);
	read_end(client);
	close(client);
	await_text(NEAR, "services\n", "services 0 targets 0 last_error", refusals[_i].near_says);
	await_text(FAR, "status\n", "problems 0 text", refusals[_i].far_says);
	await_text(FAR, "status\n", "problems 0 reason", "tls");
	ck_assert(fixture_is_quiet(server, 100));
}
END_TEST

/* Such as an NFS server of another kind: it answers the probe like any NULL. */
static void refuse_probe(void)
{
	int upstream = fixture_accept(server, NULL);
	uint32_t xid;

	/* The probe: a NULL without arguments. */
	ck_assert_uint_eq(read_any(upstream, &xid), FIXTURE_CALL_BYTES);
	send_reply(upstream, xid, 0);
	read_end(upstream);
	close(upstream);
}

START_TEST(a_server_without_tls_gets_no_call)
{
	json_t *answer, *step;
	int client, control;

	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP
		      " tls_connect = \"required\"; %s }",
		      front, back, tls_files_text(NEAR_KEYS));
	client = fixture_connect(front);
	send_call(client, 7, 0);
	refuse_probe();
	read_end(client);
	close(client);
	await_text(NEAR, "services\n", "services 0 targets 0 last_error", "does not offer TLS");
	control = control_send("check one\n");
	refuse_probe();
	answer = control_answer(control);
	step = at(answer, "servers 0 steps 0");
	ck_assert_str_eq(text_at(step, "result"), "failed");
	ck_assert_ptr_nonnull(strstr(text_at(step, "what"), "does not offer TLS"));
	ck_assert_ptr_nonnull(strstr(text_at(step, "advice"), "tls_ca_file and tls_server_name"));
	json_decref(answer);
}
END_TEST

/* ---- advice, and metrics ---- */

static char *metrics(void)
{
	static const char request[] =
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	size_t room = 256u * 1024u, have = 0;
	char *page = malloc(room);
	int fd = fixture_connect(http);
	ssize_t n;

	ck_assert_int_eq(write(fd, request, sizeof(request) - 1), sizeof(request) - 1);
	while ((n = read(fd, page + have, room - 1 - have)) > 0)
		have += (size_t)n;
	page[have] = '\0';
	close(fd);
	return page;
}

static double sample(const char *page, const char *name)
{
	const char *found = strstr(page, name);

	ck_assert_msg(found != NULL, "no %s", name);
	return strtod(found + strlen(name), NULL);
}

/* The advice of the first step that has failed. */
static const char *failed_advice(json_t *answer)
{
	json_t *step;
	size_t i;

	json_array_foreach(at(answer, "servers 0 steps"), i, step)
	{
		if (!strcmp(text_at(step, "result"), "failed"))
			return text_at(step, "advice");
	}
	return "";
}

/* The server refuses after the handshake, in the place of the first Reply. */
START_TEST(a_check_advises_about_a_certificate_that_the_server_refuses)
{
	json_t *answer;

	start("tls_ca_file = \"@/ca.pem\";", FAR_KEYS);
	answer = control_answer(control_send("check one\n"));
	ck_assert_ptr_nonnull(strstr(failed_advice(answer), "tls_cert_file"));
	json_decref(answer);
}
END_TEST

START_TEST(a_check_in_clear_advises_about_a_server_that_requires_tls)
{
	json_t *answer;
	char *page;

	near_tls = "";
	start("", FAR_KEYS);
	answer = control_answer(control_send("check one\n"));
	ck_assert_ptr_nonnull(strstr(failed_advice(answer), "tls_connect"));
	json_decref(answer);
	page = metrics();
	ck_assert(sample(page, "rpcrdma_proxy_calls_denied_total{service=\"two\","
			       "reason=\"clear\"} ") == 1);
	free(page);
}
END_TEST

/* ---- the end of certificates ---- */

START_TEST(handshakes_and_the_end_of_the_certificate_are_metrics)
{
	int client, upstream;
	double expiry;
	char *page;

	tls_files_sign("far", "IP:127.0.0.1", 5);
	start(NEAR_KEYS, FAR_KEYS);
	await_text(FAR, "status\n", "problems 0 id", "certificate_expires");
	await_text(FAR, "status\n", "problems 0 text", "its TLS certificate expires in 4 d");
	pass(7, &client, &upstream);
	page = metrics();
	ck_assert(sample(page, "rpcrdma_proxy_tls_handshakes_total{service=\"two\",side=\"client\","
			       "result=\"ok\"} ") == 1);
	ck_assert(sample(page, "rpcrdma_proxy_tls_handshakes_total{service=\"two\",side=\"client\","
			       "result=\"limit\"} ") == 0);
	/* It connects to its server in clear. */
	ck_assert_ptr_null(strstr(page, "handshakes_total{service=\"two\",side=\"upstream\""));
	expiry = sample(page,
			"rpcrdma_proxy_tls_certificate_expiry_timestamp_seconds{service=\"two\"} ");
	ck_assert(expiry > (double)time(NULL) + 4 * DAY_S);
	ck_assert(expiry < (double)time(NULL) + 6 * DAY_S);
	ck_assert(sample(page, "rpcrdma_proxy_problems{problem=\"certificate_expires\","
			       "severity=\"warning\"} ") == 1);
	ck_assert(sample(page, "rpcrdma_proxy_problems{problem=\"certificate_expired\","
			       "severity=\"critical\"} ") == 0);
	free(page);
	close(client);
	close(upstream);
}
END_TEST

/* ---- limits and the end ---- */

/* A NULL of NFSv4 with AUTH_TLS, in its record. */
static const uint8_t probe[] = {
	0x80, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xa3, 0, 0,
	0,    4, 0, 0,  0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0, 0,
};

static int begin_handshake(void)
{
	int fd = fixture_connect(middle);

	ck_assert_int_eq(write(fd, probe, sizeof(probe)), sizeof(probe));
	return fd;
}

static int64_t limited(void)
{
	json_t *answer = ask(FAR, "stats two\n");
	int64_t count = json_integer_value(at(answer, "services two tls handshakes_limited"));

	json_decref(answer);
	return count;
}

/* Those that wait for the ClientHello, too. */
START_TEST(the_seventeenth_handshake_of_an_address_is_refused)
{
	int clients[17];
	uint32_t xid;

	start(NEAR_KEYS, FAR_KEYS);
	for (unsigned i = 0; i < 16; i++) {
		clients[i] = begin_handshake();
		/* The accepted verifier has eight bytes more than none. */
		ck_assert_uint_eq(read_any(clients[i], &xid), FIXTURE_REPLY_BYTES + 8);
	}
	clients[16] = begin_handshake();
	ck_assert(!try_read_any(clients[16], &xid));
	ck_assert_int_eq(limited(), 1);
	await_text(FAR, "status\n", "problems 0 reason", "tls_limit");
	await_text(FAR, "status\n", "problems 0 text", "at most 16 at a time from one address");
	/* They are half-open connections all the time. */
	close(clients[3]);
	clients[3] = begin_handshake();
	ck_assert_uint_eq(read_any(clients[3], &xid), FIXTURE_REPLY_BYTES + 8);
	for (unsigned i = 0; i < 17; i++)
		close(clients[i]);
}
END_TEST

/* The proxies stop in teardown(), with handshakes of either role. */
START_TEST(a_stop_does_not_wait_for_handshakes)
{
	uint32_t xid;
	int client;

	start(NEAR_KEYS, FAR_KEYS);
	client = begin_handshake();
	ck_assert_uint_eq(read_any(client, &xid), FIXTURE_REPLY_BYTES + 8);
	for (unsigned i = 0; i < 8; i++)
		send_call(fixture_connect(front), 100 + i, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls between proxies");
	TCase *tc = tcase_create("tls between proxies");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, calls_pass_and_each_side_knows_the_other);
	tcase_add_test(tc, a_trace_names_the_client_by_its_certificate);
	tcase_add_test(tc, a_client_need_not_have_a_certificate_unless_it_is_demanded);
	tcase_add_test(tc, the_command_check_connects_by_tls);
	tcase_add_test(tc, rpcbind_is_asked_in_clear_and_mount_by_tls);
	tcase_add_loop_test(tc, each_side_says_why_the_other_was_refused, 0, ARRAY_SIZE(refusals));
	tcase_add_test(tc, a_server_without_tls_gets_no_call);
	tcase_add_test(tc, a_check_advises_about_a_certificate_that_the_server_refuses);
	tcase_add_test(tc, a_check_in_clear_advises_about_a_server_that_requires_tls);
	tcase_add_test(tc, handshakes_and_the_end_of_the_certificate_are_metrics);
	tcase_add_test(tc, the_seventeenth_handshake_of_an_address_is_refused);
	tcase_add_test(tc, a_stop_does_not_wait_for_handshakes);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
