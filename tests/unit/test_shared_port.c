// SPDX-License-Identifier: BSD-3-Clause
/* Tests a port that serves both TCP and iwarp clients. */
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/proxy_scene.h"

#define SHARED                                                                                     \
	"{ name = \"one\"; listen = [ \"tcp://127.0.0.1:%u\", \"iwarp://127.0.0.1:%u\" ]; "        \
	"connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; require_privileged_port = %s; }"

/* The client of another proxy, which comes to the shared port over iwarp. */
static uint16_t start_both(const char *privileged)
{
	uint16_t behind = fixture_port();

	fixture_start(SHARED, front, front, back, privileged);
	fixture_start("{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      behind, front);
	return behind;
}

static void pass(int client, int upstream, uint32_t xid, size_t bytes)
{
	send_call(client, xid, bytes);
	ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES + bytes);
	send_reply(upstream, xid, bytes);
	ck_assert_uint_eq(read_message(client, xid), FIXTURE_REPLY_BYTES + bytes);
}

START_TEST(both_kinds_of_clients_are_served_at_once)
{
	uint16_t behind = start_both("false"), tcp_front = front;
	int clients[2], upstreams[2];

	open_pair(1, &clients[0], &upstreams[0], NULL);
	front = behind;
	open_pair(2, &clients[1], &upstreams[1], NULL);
	front = tcp_front;
	for (unsigned i = 0; i < 2; i++) {
		send_reply(upstreams[i], 1 + i, 0);
		ck_assert_uint_eq(read_message(clients[i], 1 + i), FIXTURE_REPLY_BYTES);
	}
	for (uint32_t i = 0; i < 8; i++)
		pass(clients[i % 2], upstreams[i % 2], 10 + i, i * 50000);
	for (unsigned i = 0; i < 2; i++) {
		close(clients[i]);
		read_end(upstreams[i]);
		close(upstreams[i]);
	}
}
END_TEST

/* RDMA clients have no privileged ports. */
START_TEST(the_port_of_tcp_clients_alone_must_be_privileged)
{
	uint16_t behind = start_both("true"), tcp_front = front;
	int client = fixture_connect(front), other, upstream;
	json_t *answer;
	json_int_t refused;

	send_call(client, 1, 0);
	read_end(client);
	answer = control_ask("services\n");
	ck_assert_int_eq(json_unpack(answer, "{s:[{s:{s:I}}]}", "services", "refused",
				     "unprivileged", &refused),
			 0);
	ck_assert_int_eq(refused, 1);
	json_decref(answer);
	front = behind;
	open_pair(2, &other, &upstream, NULL);
	front = tcp_front;
	close(client);
	close(other);
	close(upstream);
}
END_TEST

/* The first bytes come one by one. */
START_TEST(first_bytes_may_come_in_parts)
{
	uint8_t call[4 + FIXTURE_CALL_BYTES] = {
		0x80, 0, 0, FIXTURE_CALL_BYTES, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 2};
	int client, upstream;

	start_both("false");
	client = fixture_connect(front);
	for (size_t i = 0; i < sizeof(call); i++)
		ck_assert_int_eq(send(client, &call[i], 1, MSG_NOSIGNAL), 1);
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 9), FIXTURE_CALL_BYTES);
	close(client);
	close(upstream);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	bool ends; /* its sending side, behind these */
} strangers[] = {
	{"GET / HTTP/1.1\r\n\r\n", 18, false},
	{"MPA ID Req Frame\377\377\377\377\377\377", 22, false},
	{"MPA ID Rep Frame\0\0\0\0", 20, false},
	{"MPA ID Req Framf\0\0\0\0", 20, false},
	{"MPA ID Re", 9, true},
	{"\200", 1, true},
	{"", 0, true},
	{"\200\0\0\050\0\0\0\001\0\0\0\007\0\0\0\002", 16, false},
};

START_TEST(others_are_closed_and_the_rest_is_served)
{
	int client, upstream, stranger;

	start_both("false");
	open_pair(1, &client, &upstream, NULL);
	stranger = fixture_connect(front);
	ck_assert_int_eq(send(stranger, strangers[_i].bytes, strangers[_i].len, MSG_NOSIGNAL),
			 (ssize_t)strangers[_i].len);
	if (strangers[_i].ends)
		shutdown(stranger, SHUT_WR);
	read_end(stranger);
	close(stranger);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	close(client);
	close(upstream);
}
END_TEST

/* One that says a part of what it is and stays is closed like one that says nothing. */
START_TEST(a_client_that_sends_too_little_is_closed_in_time)
{
	int client;

	fixture_start(SHARED " , { name = \"x\"; listen = \"tcp://127.0.0.1:%u\"; connect = "
			     "\"tcp://127.0.0.1:%u\"; }",
		      front, front, back, "false; stall_timeout_s = 1", fixture_port(), back);
	client = fixture_connect(front);
	ck_assert_int_eq(send(client, "MPA ID", 6, MSG_NOSIGNAL), 6);
	read_end(client);
	close(client);
}
END_TEST

/* The port is gone on with, now for both. */
START_TEST(a_port_becomes_shared_by_a_reload)
{
	uint16_t behind = fixture_port(), tcp_front = front;
	int waiting, client, upstream;
	json_t *json;

	start_tcp("");
	fixture_rewrite("", SHARED, front, front, back, "false");
	json = control_ask("reload\n");
	ck_assert_ptr_null(json_object_get(json, "error"));
	json_decref(json);
	open_pair(1, &waiting, &upstream, NULL);
	close(upstream);
	close(waiting);
	fixture_start("{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      behind, front);
	front = behind;
	open_pair(2, &client, &upstream, NULL);
	front = tcp_front;
	close(client);
	close(upstream);
}
END_TEST

/* The words of a rejection come to the proxy before it, as from a port of iwarp alone. */
START_TEST(a_refused_iwarp_client_gets_the_reason)
{
	uint16_t behind = fixture_port();
	json_t *json, *server_json;
	const char *error;
	int client;

	fixture_start("{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      behind, front);
	fixture_start(SHARED, front, front, back, "false; allow = [ \"192.0.2.0/24\" ]");
	client = fixture_connect(behind);
	send_call(client, 1, 0);
	read_end(client);
	close(client);
	client = fixture_connect(front);
	send_call(client, 1, 0);
	read_end(client);
	close(client);
	json = control_ask("services\n");
	server_json =
		json_object_get(json_array_get(json_object_get(json, "services"), 0), "server");
	error = json_string_value(json_object_get(server_json, "error"));
	ck_assert_msg(error && strstr(error, "your address is not allowed"), "%s", error);
	json_decref(json);
}
END_TEST

START_TEST(the_control_socket_tells_all_places)
{
	json_t *json, *service, *listens;
	char text[64];

	start_both("false");
	json = control_ask("services\n");
	service = json_array_get(json_object_get(json, "services"), 0);
	listens = json_object_get(service, "listens");
	ck_assert_uint_eq(json_array_size(listens), 2);
	snprintf(text, sizeof(text), "tcp://127.0.0.1:%u", front);
	ck_assert_str_eq(json_string_value(json_object_get(service, "listen")), text);
	ck_assert_str_eq(json_string_value(json_array_get(listens, 0)), text);
	snprintf(text, sizeof(text), "iwarp://127.0.0.1:%u", front);
	ck_assert_str_eq(json_string_value(json_array_get(listens, 1)), text);
	json_decref(json);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shared port");
	TCase *tc = tcase_create("shared port");

	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, both_kinds_of_clients_are_served_at_once);
	tcase_add_test(tc, the_port_of_tcp_clients_alone_must_be_privileged);
	tcase_add_test(tc, first_bytes_may_come_in_parts);
	tcase_add_loop_test(tc, others_are_closed_and_the_rest_is_served, 0, ARRAY_SIZE(strangers));
	tcase_add_test(tc, a_client_that_sends_too_little_is_closed_in_time);
	tcase_add_test(tc, a_port_becomes_shared_by_a_reload);
	tcase_add_test(tc, a_refused_iwarp_client_gets_the_reason);
	tcase_add_test(tc, the_control_socket_tells_all_places);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
