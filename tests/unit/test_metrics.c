// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the Prometheus metrics of a whole proxy: each family, for services with each kind of client
 * and server.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/metrics_table.h"
#include "tests/unit/proxy_scene.h"

#define PAGE_BYTES (256u * 1024u)

static uint16_t http_ports
	[2]; /* of two proxies: the first has the services from TCP, the second that from RDMA */
static uint16_t chain; /* the clients' port of the service that leads from the one to the other */

static const char *http_at(uint16_t port)
{
	static char globals[64];

	snprintf(globals, sizeof(globals), "http_listen = \"127.0.0.1:%u\";", port);
	return globals;
}

static void start_all(void)
{
	uint16_t middle = fixture_port();

	chain = fixture_port();
	http_ports[0] = fixture_port();
	http_ports[1] = fixture_port();
	fixture_globals = http_at(http_ports[0]);
	fixture_start("{ name = \"tcp-tcp\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " }, "
		      "{ name = \"tcp-rdma\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      front, back, chain, middle);
	fixture_globals = http_at(http_ports[1]);
	fixture_start("{ name = \"rdma-tcp\"; listen = \"iwarp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; }",
		      middle, back);
}

/* A Call and its Reply by the service at @port, whose connection stays. */
static void pass(uint16_t port, uint32_t xid, int *client, int *upstream)
{
	*client = fixture_connect(port);
	send_call(*client, xid, 0);
	*upstream = fixture_accept(server, NULL);
	read_message(*upstream, xid);
	send_reply(*upstream, xid, 0);
	read_message(*client, xid);
}

/* The answer to a GET of /metrics, with its head. */
static char *metrics(uint16_t port)
{
	static const char request[] =
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	char *page = malloc(PAGE_BYTES);
	int fd = fixture_connect(port);
	size_t have = 0;
	ssize_t n;

	ck_assert_ptr_nonnull(page);
	ck_assert_int_eq(write(fd, request, sizeof(request) - 1), sizeof(request) - 1);
	while ((n = read(fd, page + have, PAGE_BYTES - 1 - have)) > 0)
		have += (size_t)n;
	ck_assert_int_eq(n, 0);
	page[have] = '\0';
	close(fd);
	ck_assert_ptr_eq(strstr(page, "HTTP/1.1 200 "), page);
	return page;
}

static void has_line(const char *page, const char *line)
{
	const char *at = strstr(page, line);

	ck_assert_msg(at && at[-1] == '\n', "no line \"%s\"", line);
}

static void has_families(const char *page)
{
	char line[128];

	for (const struct metrics_family *family = metrics_families; family->name; family++) {
		snprintf(line, sizeof(line), "# TYPE %s ", family->name);
		has_line(page, line);
	}
}

/* Services whose connections have carried one Call, at either end. */
static const char *const carried[2][4] = {
	{"{service=\"tcp-tcp\",side=\"client\",form=\"record\"} 1\n",
	 "{service=\"tcp-tcp\",side=\"upstream\",form=\"record\"} 1\n",
	 "{service=\"tcp-rdma\",side=\"client\",form=\"record\"} 1\n",
	 "{service=\"tcp-rdma\",side=\"upstream\",form=\"short\"} 1\n"},
	{"{service=\"rdma-tcp\",side=\"client\",form=\"short\"} 1\n",
	 "{service=\"rdma-tcp\",side=\"upstream\",form=\"record\"} 1\n"},
};

static void has_carried(const char *page, const char *const lines[4])
{
	char line[128];

	for (unsigned i = 0; i < 4 && lines[i]; i++) {
		snprintf(line, sizeof(line), "rpcrdma_proxy_call_forms_total%s", lines[i]);
		has_line(page, line);
	}
}

/* A problem that does not exist has a sample, too; a notice has none. */
START_TEST(problems_are_counted_by_kind)
{
	static const char none[] =
		"rpcrdma_proxy_problems{problem=\"server_disabled\",severity=\"critical\"} 0\n";
	char request[80], *page;

	start_all();
	page = metrics(http_ports[0]);
	has_line(page, none);
	ck_assert_ptr_null(strstr(page, "problem=\"clients_refused\""));
	free(page);
	snprintf(request, sizeof(request), "target tcp-tcp tcp://127.0.0.1:%u down\n", back);
	json_decref(control_ask(request));
	page = metrics(http_ports[0]);
	has_line(page,
		 "rpcrdma_proxy_problems{problem=\"server_disabled\",severity=\"critical\"} 1\n");
	has_line(page, "rpcrdma_proxy_problems{problem=\"xid_reused\",severity=\"warning\"} 0\n");
	free(page);
}
END_TEST

START_TEST(each_family_is_shown_of_each_kind_of_end)
{
	int clients[2], upstreams[2];
	char *page;

	start_all();
	/* Nothing is counted yet. */
	for (unsigned i = 0; i < 2; i++) {
		page = metrics(http_ports[i]);
		has_families(page);
		free(page);
	}
	pass(front, 7, &clients[0], &upstreams[0]);
	pass(chain, 8, &clients[1], &upstreams[1]);
	for (unsigned i = 0; i < 2; i++) {
		page = metrics(http_ports[i]);
		has_families(page);
		has_carried(page, carried[i]);
		free(page);
	}
	for (unsigned i = 0; i < 2; i++) {
		close(clients[i]);
		close(upstreams[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metrics of a proxy");
	TCase *tc = tcase_create("metrics of a proxy");

	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, each_family_is_shown_of_each_kind_of_end);
	tcase_add_test(tc, problems_are_counted_by_kind);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
