// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the Host header of a request: which names belong to this machine, and which can come from a
 * malicious web site.
 */
#include "daemon/http/http_host.h"

#include "base/compiler.h"
#include "tests/lib/test.h"

static char example[] = "metrics.example.net", dotted[] = "dotted.example.";
static char *names[] = {example, dotted};
static const struct config_hosts hosts = {ARRAY_SIZE(names), names};

static const struct {
	const char *host;
	bool ours;
} rows[] = {
	{"127.0.0.1", true},
	{"127.0.0.1:9180", true},
	{"192.0.2.9:80", true}, /* whatever the address: a site has no address for a name */
	{"[::1]", true},
	{"[2001:db8::1]:9180", true},
	{"localhost", true},
	{"LOCALHOST:9180", true},
	{"localhost.", true},
	{"proxy1.example.org", true}, /* this machine's, … */
	{"Proxy1.Example.Org:9180", true},
	{"proxy1", true}, /* … and without the domain */
	{"proxy1:9180", true},
	{"metrics.example.net", true},
	{"METRICS.example.net.:9180", true},
	{"dotted.example", true},
	{"", true}, /* no name: no browser has sent it */
	{"evil.example", false},
	{"evil.example:9180", false},
	{"proxy1.evil.example", false},
	{"localhost.evil.example", false},
	{"127.0.0.1.evil.example", false},
	{"xmetrics.example.net", false},
	{"metrics.example.netx", false},
	{"proxy1.example", false},
	{"proxy", false},
	{"[::1].evil.example", false},
	{"[evil.example]", false},
	{"[::1", false},
	{"[]", false},
	{"127.1", false},
	{"0x7f000001", false},
	{"256.0.0.1", false},
	{"localhost:9180:evil", false},
	{"localhost:evil", false},
	{"localhost@evil.example", false},
	{"evil.example, localhost", false},
	{"::1", false},
	{"localhost..", false},
};

START_TEST(hosts_are_distinguished)
{
	ck_assert_msg(http_host_is_ours(rows[_i].host, "proxy1.example.org", &hosts) ==
			      rows[_i].ours,
		      "\"%s\"", rows[_i].host);
}
END_TEST

START_TEST(a_machine_without_a_name_has_none)
{
	const struct config_hosts none = {0};

	ck_assert(!http_host_is_ours("evil.example", "", &none));
	ck_assert(!http_host_is_ours("(none)", "", &none));
	ck_assert(http_host_is_ours("127.0.0.1", "", &none));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http host");
	TCase *tc = tcase_create("http host");

	tcase_add_loop_test(tc, hosts_are_distinguished, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, a_machine_without_a_name_has_none);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
