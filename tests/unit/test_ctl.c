// SPDX-License-Identifier: BSD-3-Clause
/* Tests the text output of the control client, and answers that a daemon should not send. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/control/control.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"
#include "daemon/ctl/table.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static json_t *meanings; /* for stats */
static char *printed;
static size_t printed_bytes;

static void teardown(void)
{
	free(printed);
	printed = NULL;
	json_decref(meanings);
	meanings = NULL;
}

static const char *render(enum control_command_id command, const char *json, bool all)
{
	free(printed);
	printed = NULL;
	json_t *answer = json_loads(json, 0, NULL);
	FILE *out = open_memstream(&printed, &printed_bytes);

	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(render_answer(command, answer, meanings, all, out), 0);
	fclose(out);
	json_decref(answer);
	return printed;
}

START_TEST(durations_have_two_units)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{-1, "0 s"},        {0.9, "0 s"},    {59.9, "59 s"},    {60, "1m00s"},
		{3599, "59m59s"},   {3600, "1h00m"}, {86399, "23h59m"}, {86400, "1d00h"},
		{1e9, "11574d01h"}, {1e300, "0 s"},
	};
	char text[CELL_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(cell_duration_text(cases[i].seconds, text), cases[i].text);
}
END_TEST

START_TEST(columns_are_aligned)
{
	static const struct table_column columns[] = {
		{.title = "A"}, {.title = "NUMBER", .right = true}, {.title = "C"}};
	FILE *out = open_memstream(&printed, &printed_bytes);
	struct table table;

	table_init(&table, columns, 3);
	table_cell(&table, "long");
	table_cell(&table, "%d", 5);
	table_cell(&table, "x");
	table_cell(&table, "s");
	table_cell(&table, "%d", 12345678);
	table_cell(&table, "yyyy");
	ck_assert_int_eq(table_print(&table, "> ", 0, out), 0);
	table_fini(&table);
	fclose(out);
	ck_assert_str_eq(printed, "> A       NUMBER  C\n"
				  "> long         5  x\n"
				  "> s     12345678  yyyy\n");
}
END_TEST

START_TEST(columns_are_cut_in_their_middle_the_widest_first)
{
	static const struct table_column columns[] = {{.title = "ID", .right = true},
						      {.title = "NAME", .min_width = 6},
						      {.title = "WHERE", .min_width = 8}};
	FILE *out = open_memstream(&printed, &printed_bytes);
	struct table table;

	table_init(&table, columns, 3);
	table_cell(&table, "123456");
	table_cell(&table, "abcdefgh");
	table_cell(&table, "0123456789abcdefghij");
	ck_assert_int_eq(table_print(&table, "", 28, out), 0);
	ck_assert_int_eq(table_print(&table, "  ", 26, out), 0);
	/* Further it may not be cut. */
	ck_assert_int_eq(table_print(&table, "", 10, out), 0);
	table_fini(&table);
	fclose(out);
	ck_assert_str_eq(printed, "    ID  NAME      WHERE\n"
				  "123456  abcdefgh  0123..ghij\n"
				  "      ID  NAME    WHERE\n"
				  "  123456  ab..gh  012..hij\n"
				  "    ID  NAME    WHERE\n"
				  "123456  ab..gh  012..hij\n");
}
END_TEST

static size_t longest_line(void)
{
	size_t longest = 0, len;

	for (const char *line = printed; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		longest = len > longest ? len : longest;
	}
	return longest;
}

#define SERVICE                                                                                     \
	"{\"services\": [{\"name\": \"to-filer\", \"listen\": \"tcp://127.0.0.1:2049\","            \
	" \"connect\": \"rdma://filer:20049\", \"connections\": 3,"                                 \
	" \"connections_total\": 10, \"max_connections\": 1024, \"max_connections_per_client\": 0," \
	" \"half_open\": 2, \"held\": 1, \"active\": 2, %s"                                         \
	" \"memory\": {\"claimed_bytes\": 2048, \"waiting_claims\": 5, \"oldest_wait_s\": 65.5},"   \
	" \"refused\": {\"not_allowed\": 2, \"too_many\": 1}, \"problems\": ["                      \
	"{\"id\": \"server_down\", \"text\": \"server 192.0.2.1:20049 is down for 35 s\"},"         \
	"{\"id\": \"one_server_down\", \"text\": \"in the line of the server\"},"                   \
	"{\"id\": \"clients_refused\", \"text\": \"2 clients refused\"}]}]}"
#define DOWN                                                                                          \
	"\"server\": {\"state\": \"down\", \"state_age_s\": 35.2, \"error\": \"Connection refused\"," \
	" \"address\": \"192.0.2.1:20049\", \"waiting_clients\": 1, \"attempts_failed\": 70},"

static const char *render_service(const char *server, bool all)
{
	char json[1024];

	snprintf(json, sizeof(json), SERVICE, server);
	return render(CONTROL_COMMAND_SERVICES, json, all);
}

START_TEST(services_show_their_server_and_problems)
{
	ck_assert_str_eq(
		render_service(DOWN, false),
		"SERVICE   CONNECTS TO         SERVER                         OPEN/MAX  REFUSED\n"
		"to-filer  rdma://filer:20049  down 35 s: Connection refused    2/1024        3\n"
		"to-filer: server 192.0.2.1:20049 is down for 35 s\n"
		"to-filer: 2 clients refused\n");
}
END_TEST

START_TEST(a_server_is_ok_or_not_known)
{
	static const struct {
		const char *server, *cell;
	} cases[] = {
		{"\"server\": {\"state\": \"ok\", \"state_age_s\": 5, \"error\": null},", " ok "},
		{"\"server\": {\"state\": \"unknown\", \"state_age_s\": null},", " -  "},
		{"\"server\": {\"state\": \"draining\"},", " draining "},
		{"\"server\": {\"state\": \"ok\", \"condition\": \"disabled\", \"condition_age_s\": null},",
		 " disabled "},
		{"\"server\": {\"state\": \"ok\", \"condition\": \"silent\", \"condition_age_s\": 35},",
		 " silent 35 s "},
		/* The error of another server, of which none is in use. */
		{"\"server\": {\"state\": \"down\", \"condition\": \"disabled\", \"error\": \"no\"},",
		 " disabled  "},
		{"", " -  "},
	};

	render_service(cases[_i].server, false);
	ck_assert_ptr_nonnull(strstr(printed, cases[_i].cell));
}
END_TEST

START_TEST(services_show_once_that_a_server_of_mount_is_down)
{
	render(CONTROL_COMMAND_SERVICES,
	       "{\"services\": [{\"name\": \"a\", \"problems\": [{\"id\": \"mount_down\", \"text\":"
	       " \"MOUNT by tcp://m is down, NFSv3 clients cannot mount: refused\"}],"
	       " \"mount_targets\": [{\"connect\": \"tcp://m\", \"state\": \"down\", \"order\": \"up\","
	       " \"attempts\": 2, \"failures\": 2, \"last_error\": \"refused\"}]}]}",
	       false);
	ck_assert_ptr_nonnull(strstr(printed, "a: MOUNT by tcp://m: down; "));
	ck_assert_ptr_null(strstr(printed, "NFSv3 clients"));
}
END_TEST

/*
 * A cause that does not fit keeps its beginning, which says what it is.
 */
START_TEST(a_long_cause_loses_its_end)
{
	const char *json =
		"{\"services\": [{\"name\": \"to-filer\", \"connect\": \"rdma://filer:2049\","
		" \"connections\": 0, \"max_connections\": 1024, \"refused\": {},"
		" \"server\": {\"state\": \"down\", \"state_age_s\": 1, \"address\": null,"
		" \"waiting_clients\": 0, \"attempts_failed\": 1,"
		" \"error\": \"its name \\\"filer\\\" cannot be resolved: no such name\"}}]}";

	ck_assert_str_eq(
		render(CONTROL_COMMAND_SERVICES, json, false),
		"SERVICE   CONNECTS TO        SERVER                            OPEN/MAX  REFUSED\n"
		"to-filer  rdma://filer:2049  down 1 s: its name \"filer\" can..    0/1024        0\n");
}
END_TEST

START_TEST(services_show_everything_when_asked)
{
	static const char *const parts[] = {
		"LISTENS ON", "tcp://127.0.0.1:2049",    "  192.0.2.1:20049",
		"HALF-OPEN",  "2.0 KiB  5, up to 1m05s", "to-filer: colour: \"red\"\n"};

	render_service(DOWN "\"colour\": \"red\",", true);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(printed, parts[i]) != NULL, "%s in %s", parts[i], printed);
	render_service(DOWN "\"colour\": \"red\",", false);
	ck_assert_ptr_null(strstr(printed, "colour"));
}
END_TEST

START_TEST(services_fit_a_line_of_80)
{
	const char *json =
		"{\"services\": [{\"name\": \"a-service-with-a-name-that-somebody-liked\","
		" \"connect\": \"rdma://[2001:db8:1234:5678:9abc:def0:1234:5678]:20049\","
		" \"connections\": 100000, \"max_connections\": 100000,"
		" \"refused\": {\"not_allowed\": 12345678},"
		" \"server\": {\"state\": \"down\", \"state_age_s\": 400000,"
		" \"error\": \"No route to host\"}}]}";

	render(CONTROL_COMMAND_SERVICES, json, false);
	*strchr(strchr(printed, '\n') + 1, '\n') = '\0';
	ck_assert_uint_eq(longest_line(), 80);
	ck_assert_ptr_nonnull(strstr(printed, "100000/100000"));
	ck_assert_ptr_nonnull(strstr(printed, ".."));
}
END_TEST

#define CONNECTIONS                                                                                \
	"{\"connections\": ["                                                                      \
	"{\"id\": 18, \"service\": \"to-filer\", \"state\": \"connecting\","                       \
	" \"age_s\": 0, \"client_address\": \"[fe80::1]:9\", \"client\": null,"                    \
	" \"upstream\": null, \"oldest_call_age_s\": null},"                                       \
	"{\"id\": 9, \"service\": \"to-filer\", \"worker\": 0,"                                    \
	" \"state\": \"open\", \"state_age_s\": 12.9, \"age_s\": 61,"                              \
	" \"client_address\": \"10.0.0.3:712\", \"oldest_call_age_s\": 65.2, \"calls_total\": 99," \
	" \"oldest_call_operation\": \"READ\", \"oldest_call_stage\": \"server\","                 \
	" \"client\": {\"kind\": \"tcp\", \"state\": \"open\", \"state_age_s\": 12,"               \
	" \"calls_in\": 5, \"calls_out\": 1, \"mood\": \"good\","                                  \
	" \"bytes_received\": 2048, \"bytes_sent\": 100, \"credits_granted\": null},"              \
	" \"upstream\": {\"kind\": \"iwarp\", \"state\": \"open\","                                \
	" \"state_age_s\": null, \"peer\": \"10.0.0.9:20049\", \"local\": \"10.0.0.8:731\","       \
	" \"calls_held\": 2, \"credits_available\": null, \"rpcrdma_version\": 1,"                 \
	" \"credits_used\": 7, \"inline_recv_bytes\": 4096, \"inline_send_bytes\": 1024,"          \
	" \"bytes_sent\": 4096, \"bytes_received\": 3,"                                            \
	" \"peer_profile\": \"linux\", \"peer_profile_why\": \"as configured\"}},"                 \
	"{\"id\": 20, \"service\": \"exports\", \"state\": \"open\", \"age_s\": 5,"                \
	" \"client_address\": \"10.0.0.4:713\", \"client\": {}, \"upstream\": {}}]}"

START_TEST(connections_are_sorted_and_brief)
{
	ck_assert_str_eq(
		render(CONTROL_COMMAND_CONNECTIONS, CONNECTIONS, false),
		"ID  SERVICE   CLIENT        STATE         AGE  CALLS  OLDEST  OPERATION\n"
		"20  exports   10.0.0.4:713  open          5 s      -       -  -\n"
		" 9  to-filer  10.0.0.3:712  open        1m01s      5   1m05s  READ server\n"
		"18  to-filer  [fe80::1]:9   connecting    0 s      -       -  -\n");
}
END_TEST

START_TEST(connections_are_vertical_lists_when_all_is_asked)
{
	static const char text[] = "connection              20\n"
				   "  service               exports\n"
				   "  state                 open\n"
				   "  age                   5 s\n"
				   "client                  10.0.0.4:713\n"
				   "server                  -\n"
				   "\n"
				   "connection              9\n"
				   "  service               to-filer\n"
				   "  state                 open for 12 s\n"
				   "  age                   1m01s\n"
				   "  worker thread         0\n"
				   "  Calls in total        99\n"
				   "  oldest Call           READ for 1m05s in stage server\n"
				   "client                  10.0.0.3:712\n"
				   "  transport             TCP\n"
				   "  state                 open for 12 s\n"
				   "  unanswered Calls      5\n"
				   "  reverse Calls         1\n"
				   "  received              2.0 KiB\n"
				   "  sent                  100 bytes\n"
				   "server                  10.0.0.9:20049\n"
				   "  transport             RDMA (iwarp)\n"
				   "  connected from        10.0.0.8:731\n"
				   "  state                 open\n"
				   "  RPC-over-RDMA         version 1\n"
				   "  longest inline        4.0 KiB received, 1.0 KiB sent\n"
				   "  peer profile          linux: as configured\n"
				   "  waiting for a credit  2\n"
				   "  credits used          7\n"
				   "  received              3 bytes\n"
				   "  sent                  4.0 KiB\n"
				   "9: mood: \"good\"\n"
				   "\n"
				   "connection              18\n"
				   "  service               to-filer\n"
				   "  state                 connecting\n"
				   "  age                   0 s\n"
				   "client                  [fe80::1]:9\n"
				   "server                  not connected\n";

	render(CONTROL_COMMAND_CONNECTIONS, CONNECTIONS, true);
	ck_assert_msg(!strcmp(printed, text), "%.3000s", printed);
}
END_TEST

#define SELECTED                                                                                   \
	"{\"selection\": \"17\", \"connections\": [{\"id\": 17, \"client_address\":"               \
	" \"10.0.0.3:712\", \"future\": 3, \"service\":"                                           \
	" \"a-service-whose-name-is-as-long-as-a-name-of-a-service-can-be-so64\", \"upstream\":"   \
	" {\"kind\": \"verbs\", \"peer_profile\": \"linux\", \"peer_profile_why\":"                \
	" \"it closed the connection after a Call that another kind of server answers\"}}]}"

START_TEST(a_selected_connection_is_a_vertical_list_of_80_columns)
{
	static const char text[] =
		"connection              17\n"
		"  service\n"
		"    a-service-whose-name-is-as-long-as-a-name-of-a-service-can-be-so64\n"
		"client                  10.0.0.3:712\n"
		"server                  -\n"
		"  transport             RDMA (verbs)\n"
		"  peer profile          linux: it closed the connection after a Call that\n"
		"                        another kind of server answers\n";

	ck_assert_str_eq(render(CONTROL_COMMAND_CONNECTIONS, SELECTED, false), text);
	ck_assert_uint_le(longest_line(), 80);
	render(CONTROL_COMMAND_CONNECTIONS, SELECTED, true);
	ck_assert_int_eq(strncmp(printed, text, strlen(text)), 0);
	ck_assert_str_eq(printed + strlen(text), "17: future: 3\n");
}
END_TEST

static const struct {
	const char *leg, *rows;
} spoken[] = {
	{"\"rpcrdma_version\": null, \"recv_size_bytes\": null, \"pending\": null", ""},
	{"\"rpcrdma_version\": 1", "  RPC-over-RDMA         version 1\n"},
	{"\"rpcrdma_version\": 1, \"dialect\": \"draft03\", \"peer_reads_max\": 16,"
	 " \"recv_size_bytes\": 4096, \"replies_lent\": 3, \"calls_abandoned\": 2",
	 "  RPC-over-RDMA         version 1 (draft03)\n"
	 "  receive size          4.0 KiB\n"
	 "  concurrent Reads      16\n"
	 "  read-chunk Replies    3\n"
	 "  Calls abandoned       2\n"},
	{"\"rpcrdma_version\": 1, \"dialect\": \"rfc8166\", \"peer_reads_max\": null,"
	 " \"replies_lent\": 0, \"calls_abandoned\": 0, \"credits_granted\": 0",
	 "  RPC-over-RDMA         version 1 (rfc8166)\n"
	 "  credits granted       0\n"},
	{"\"rpcrdma_version\": 1, \"recv_size_bytes\": 4096, \"peer_recv_size_bytes\": 1024,"
	 " \"recv_posted_bytes\": 327680, \"pending\": null, \"credits_available\": 12",
	 "  RPC-over-RDMA         version 1\n"
	 "  credits free          12\n"
	 "  receive size          4.0 KiB\n"
	 "  peer's receive size   1.0 KiB\n"
	 "  posted receives       320 KiB\n"},
	{"\"rpcrdma_version\": 2, \"recv_size_bytes\": 65536, \"peer_recv_size_bytes\": 4096,"
	 " \"recv_posted_bytes\": 1048576, \"pending\": \"receives to be raised\"",
	 "  RPC-over-RDMA         version 2\n"
	 "  receive size          64 KiB\n"
	 "  peer's receive size   4.0 KiB\n"
	 "  posted receives       1.0 MiB\n"
	 "  sizes requested       receives to be raised\n"},
};

/* On either side. */
START_TEST(connections_show_their_protocols)
{
	char json[512], text[800];

	snprintf(json, sizeof(json),
		 "{\"connections\": [{\"id\": 1, \"client\": {\"kind\": \"tcp\"},"
		 " \"upstream\": {\"kind\": \"verbs\", \"calls_out\": 3, %s}}]}",
		 spoken[_i].leg);
	snprintf(text, sizeof(text),
		 "connection              1\nclient                  -\n"
		 "  transport             TCP\nserver                  -\n"
		 "  transport             RDMA (verbs)\n  unanswered Calls      3\n%s",
		 spoken[_i].rows);
	ck_assert_str_eq(render(CONTROL_COMMAND_CONNECTIONS, json, true), text);
	snprintf(json, sizeof(json),
		 "{\"connections\": [{\"id\": 1, \"client\": {\"kind\": \"verbs\","
		 " \"local\": \"10.0.0.8:2049\", %s}, \"upstream\": null}]}",
		 spoken[_i].leg);
	snprintf(text, sizeof(text),
		 "connection              1\nclient                  -\n"
		 "  transport             RDMA (verbs)\n  connected to          10.0.0.8:2049\n"
		 "%sserver                  not connected\n",
		 spoken[_i].rows);
	ck_assert_str_eq(render(CONTROL_COMMAND_CONNECTIONS, json, true), text);
}
END_TEST

static const struct {
	const char *tls, *row, *client; /* what the brief table has as the client */
} tls_rows[] = {
	{"null", "", "10.0.0.3:712"},
	{"{\"version\": \"1.3\", \"cipher\": \"TLS_AES_128_GCM_SHA256\","
	 " \"peer_name\": \"a.example\", \"verified\": true}",
	 "  TLS                   1.3, TLS_AES_128_GCM_SHA256; a.example, verified\n",
	 "10.0.0.3:712 TLS"},
	{"{\"version\": \"1.3\", \"cipher\": \"TLS_AES_128_GCM_SHA256\","
	 " \"peer_name\": null, \"verified\": false}",
	 "  TLS                   1.3, TLS_AES_128_GCM_SHA256; the peer has no certificate\n",
	 "10.0.0.3:712 TLS"},
};

START_TEST(connections_show_tls_and_the_name_of_the_peer)
{
	char json[640], text[640];

	snprintf(json, sizeof(json),
		 "{\"connections\": [{\"id\": 1, \"client_address\": \"10.0.0.3:712\","
		 " \"client\": {\"kind\": \"tcp\", \"tls\": %s},"
		 " \"upstream\": {\"kind\": \"tcp\", \"tls\": %s}}]}",
		 tls_rows[_i].tls, tls_rows[_i].tls);
	snprintf(text, sizeof(text),
		 "connection              1\nclient                  10.0.0.3:712\n"
		 "  transport             TCP\n%sserver                  -\n"
		 "  transport             TCP\n%s",
		 tls_rows[_i].row, tls_rows[_i].row);
	ck_assert_str_eq(render(CONTROL_COMMAND_CONNECTIONS, json, true), text);
	render(CONTROL_COMMAND_CONNECTIONS, json, false);
	snprintf(text, sizeof(text), " %s  ", tls_rows[_i].client);
	ck_assert_ptr_nonnull(strstr(printed, text));
	ck_assert_uint_le(longest_line(), 80);
}
END_TEST

START_TEST(a_thousand_connections_fit_a_line_of_80)
{
	json_t *list = json_array(), *answer = json_pack("{s:o}", "connections", list);
	char *json;

	for (int i = 1000; i > 0; i--)
		json_array_append_new(
			list,
			json_pack("{s:i, s:s, s:s, s:s, s:f, s:f, s:s, s:s, s:{s:i}}", "id",
				  100000 + i, "service",
				  "a-service-with-a-name-that-somebody-liked", "client_address",
				  "[2001:db8:1234:5678:9abc:def0:1234:5678]:1023", "state",
				  "connecting", "age_s", 100000.0, "oldest_call_age_s", 100000.0,
				  "oldest_call_operation", "BIND_CONN_TO_SESSION",
				  "oldest_call_stage", "receive", "client", "calls_in", 1024));
	json = json_dumps(answer, 0);
	json_decref(answer);
	render(CONTROL_COMMAND_CONNECTIONS, json, false);
	free(json);
	ck_assert_uint_eq(longest_line(), 80);
	ck_assert_int_eq(strncmp(strchr(printed, '\n') + 1, "100001 ", 7), 0);
	ck_assert_ptr_nonnull(strstr(printed, "..1023  "));
}
END_TEST

#define UNTAKEN                                                                                    \
	"{\"connections\": [{\"id\": 1, \"service\": \"a\", \"oldest_call_age_s\": %d,"            \
	" \"oldest_call_operation\": \"WRITE\", \"oldest_call_stage\": \"server\","                \
	" \"oldest_untaken_age_s\": 5, \"oldest_untaken_operation\": \"READ\"}]}"

/* A Reply that is on its way for longer than any Call has waited; and one that is not. */
START_TEST(a_reply_that_is_not_taken_is_the_oldest)
{
	char text[512];

	snprintf(text, sizeof(text), UNTAKEN, 3);
	ck_assert_ptr_nonnull(
		strstr(render(CONTROL_COMMAND_CONNECTIONS, text, false), "  5 s  READ client\n"));
	snprintf(text, sizeof(text), UNTAKEN, 7);
	ck_assert_ptr_nonnull(
		strstr(render(CONTROL_COMMAND_CONNECTIONS, text, false), "  7 s  WRITE server\n"));
	render(CONTROL_COMMAND_CONNECTIONS, text, true);
	ck_assert_ptr_nonnull(
		strstr(printed, "  oldest Call           WRITE for 7 s in stage server\n"));
	ck_assert_ptr_null(strstr(printed, "untaken"));
}
END_TEST

START_TEST(no_connections_are_an_empty_table)
{
	render(CONTROL_COMMAND_CONNECTIONS, "{\"connections\": []}", false);
	ck_assert_ptr_eq(strchr(printed, '\n'), printed + strlen(printed) - 1);
	ck_assert_str_eq(render(CONTROL_COMMAND_CONNECTIONS, "{\"connections\": []}", true),
			 "no connections\n");
}
END_TEST

#define STATS                                                                                      \
	"{\"services\": {\"a\": {\"tcp\": {\"calls\": 1234, \"stalls\": 0},"                       \
	" \"rdma\": {\"sends\": 0}, \"closes\": {\"client\": {\"peer\": 3, \"lost\": 0},"          \
	" \"server\": {\"peer\": 0, \"lost\": 0}}}}}"
#define COUNTERS                                                                                   \
	"{\"counters\": {\"tcp\": {\"calls\": \"Calls received\","                                 \
	" \"stalls\": \"connections stalled\"}, \"rdma\": {\"sends\": \"Sends\"},"                 \
	" \"closes\": {\"peer\": \"the other end closed\"}}}"

START_TEST(stats_are_grouped_with_their_meaning)
{
	meanings = json_loads(COUNTERS, 0, NULL);
	ck_assert_str_eq(render(CONTROL_COMMAND_STATS, STATS, false),
			 "a\n"
			 "  tcp\n"
			 "    calls  1234  Calls received\n"
			 "  rdma  (all zero)\n"
			 "  closes by the client\n"
			 "    peer  3  the other end closed\n"
			 "  closes by the server  (all zero)\n");
}
END_TEST

START_TEST(stats_show_zeros_when_asked)
{
	meanings = json_loads(COUNTERS, 0, NULL);
	ck_assert_str_eq(render(CONTROL_COMMAND_STATS, STATS, true),
			 "a\n"
			 "  tcp\n"
			 "    calls   1234  Calls received\n"
			 "    stalls     0  connections stalled\n"
			 "  rdma\n"
			 "    sends  0  Sends\n"
			 "  closes by the client\n"
			 "    peer  3  the other end closed\n"
			 "    lost  0  -\n"
			 "  closes by the server\n"
			 "    peer  0  the other end closed\n"
			 "    lost  0  -\n");
}
END_TEST

START_TEST(stats_can_do_without_meanings)
{
	render(CONTROL_COMMAND_STATS, STATS, false);
	ck_assert_ptr_nonnull(strstr(printed, "    calls  1234  \n"));
}
END_TEST

START_TEST(counters_are_explained)
{
	ck_assert_str_eq(render(CONTROL_COMMAND_COUNTERS, COUNTERS, false),
			 "tcp\n"
			 "  calls   Calls received\n"
			 "  stalls  connections stalled\n"
			 "rdma\n"
			 "  sends  Sends\n"
			 "closes\n"
			 "  peer  the other end closed\n");
}
END_TEST

START_TEST(log_and_stop_report_their_effect)
{
	ck_assert_str_eq(render(CONTROL_COMMAND_LOG, "{\"level\": \"debug\"}", false),
			 "log level is debug\n");
	ck_assert_str_eq(render(CONTROL_COMMAND_STOP, "{\"stopping\": true}", false), "stopping\n");
}
END_TEST

START_TEST(answers_with_nothing_in_them_do_no_harm)
{
	render(_i, "{}", true);
}
END_TEST

/* A terminal would obey it. */
START_TEST(an_answer_keeps_no_control_characters)
{
	json_t *answer =
		json_loads("{\"a\":\"\\u001b]0;x\\u0007y\\n\",\"b\\u001b[2J\":[\"\\u007f\","
			   "{\"c\":\"\\u009bm \\u00e4\\u20ac\"},1,null,true,2.5]}",
			   0, NULL);
	json_t *plain = sanitize_json(answer);
	char *text = json_dumps(plain, JSON_COMPACT | JSON_SORT_KEYS);

	ck_assert_str_eq(text,
			 "{\"a\":\"?]0;x?y?\",\"b?[2J\":[\"?\",{\"c\":\"?m \xc3\xa4\xe2\x82\xac"
			 "\"},1,null,true,2.5]}");
	free(text);
	json_decref(plain);
	json_decref(answer);
	ck_assert_ptr_null(sanitize_json(NULL));
}
END_TEST

/* Asks for what a daemon that is not ours answers. */
START_TEST(answers_of_any_daemon_are_printed_in_plain_text)
{
	static const char said[] = "{\"error\":\"\\u001b[2J\"}";
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/test-ctl-XXXXXX", error[256], bytes[256];
	json_t *answer = NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), peer;
	pid_t child;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	child = fork();
	if (child == 0) {
		peer = accept(fd, NULL, NULL);
		while (read(peer, bytes, sizeof(bytes)) > 0)
			;
		_exit(write(peer, said, strlen(said)) < 0);
	}
	ck_assert_int_eq(
		client_request(addr.sun_path, "status", NULL, error, sizeof(error), &answer), 0);
	ck_assert_str_eq(json_string_value(json_object_get(answer, "error")), "?[2J");
	json_decref(answer);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	close(fd);
	unlink(addr.sun_path);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl");
	TCase *tc = tcase_create("ctl");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, durations_have_two_units);
	tcase_add_test(tc, columns_are_aligned);
	tcase_add_test(tc, columns_are_cut_in_their_middle_the_widest_first);
	tcase_add_test(tc, services_show_their_server_and_problems);
	tcase_add_loop_test(tc, a_server_is_ok_or_not_known, 0, 7);
	tcase_add_test(tc, services_show_once_that_a_server_of_mount_is_down);
	tcase_add_test(tc, a_long_cause_loses_its_end);
	tcase_add_test(tc, services_show_everything_when_asked);
	tcase_add_test(tc, services_fit_a_line_of_80);
	tcase_add_test(tc, connections_are_sorted_and_brief);
	tcase_add_test(tc, connections_are_vertical_lists_when_all_is_asked);
	tcase_add_test(tc, a_selected_connection_is_a_vertical_list_of_80_columns);
	tcase_add_loop_test(tc, connections_show_their_protocols, 0, ARRAY_SIZE(spoken));
	tcase_add_loop_test(tc, connections_show_tls_and_the_name_of_the_peer, 0,
			    ARRAY_SIZE(tls_rows));
	tcase_add_test(tc, a_thousand_connections_fit_a_line_of_80);
	tcase_add_test(tc, a_reply_that_is_not_taken_is_the_oldest);
	tcase_add_test(tc, no_connections_are_an_empty_table);
	tcase_add_test(tc, stats_are_grouped_with_their_meaning);
	tcase_add_test(tc, stats_show_zeros_when_asked);
	tcase_add_test(tc, stats_can_do_without_meanings);
	tcase_add_test(tc, counters_are_explained);
	tcase_add_test(tc, log_and_stop_report_their_effect);
	tcase_add_loop_test(tc, answers_with_nothing_in_them_do_no_harm, 0,
			    CONTROL_COMMAND_STOP + 1);
	tcase_add_test(tc, an_answer_keeps_no_control_characters);
	tcase_add_test(tc, answers_of_any_daemon_are_printed_in_plain_text);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
