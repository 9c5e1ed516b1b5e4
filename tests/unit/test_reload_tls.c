// SPDX-License-Identifier: BSD-3-Clause
/* Tests a whole proxy whose TLS files change: a reload reads them and closes nobody. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/proxy/proxy_priv.h"
#include "tests/lib/tls_files.h"
#include "tests/unit/proxy_scene.h"

static int client, upstream;

#define KEYS "tls = \"allowed\"; tls_cert_file = \"@/a.pem\"; tls_key_file = \"@/a.key\";"

/* A client without TLS is connected, and has sent a Call. */
static void setup(void)
{
	scene_setup();
	tls_files_setup();
	tls_files_sign("a", "DNS:nfs.example.net", 100);
	start_tcp(tls_files_text(KEYS));
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
}

static void teardown(void)
{
	close(client);
	close(upstream);
	scene_teardown();
	tls_files_teardown();
}

/* Reloads, and holds the answer against what it has to contain. The client notices nothing. */
static void reload(const char *part)
{
	static uint32_t xid = 10;
	json_t *answer = control_ask("reload\n");
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
	send_call(client, ++xid, 100);
	ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES + 100);
	send_reply(upstream, xid, 8);
	ck_assert_uint_eq(read_message(client, xid), FIXTURE_REPLY_BYTES + 8);
}

START_TEST(files_are_read_again_though_no_key_has_changed)
{
	reload("\"kept\": [\"one\"], \"changed\": [], \"added\": [], \"removed\": [], \"held\": [], "
	       "\"warnings\": [], \"tls_renewed\": []");
	tls_files_sign("a", "DNS:nfs.example.net", 100);
	reload("\"kept\": [\"one\"], \"changed\": [], \"added\": [], \"removed\": [], \"held\": [], "
	       "\"warnings\": [], \"tls_renewed\": [\"one\"]");
	reload("\"tls_renewed\": []");
}
END_TEST

/* The configuration of an unchanged service stays until a restart. */
START_TEST(a_retired_key_is_not_kept_by_the_configuration)
{
	ck_assert_ptr_null(proxy->config->services[0].tls.context);
	tls_files_sign("a", "DNS:nfs.example.net", 100);
	reload("\"tls_renewed\": [\"one\"]");
	ck_assert_ptr_null(proxy->config->services[0].tls.context);
}
END_TEST

static const struct {
	const char *breaks, *error;
} wrong[] = {
	{"rm a.pem", "tls_cert_file: cannot read"},
	{"rm a.key", "tls_key_file: cannot read"},
	{"cp ca.key a.key", "/a.key"},
	{"cp old.pem a.pem && cp old.key a.key", "expired"},
};

START_TEST(wrong_files_are_rejected_and_the_old_ones_are_kept)
{
	tls_files_sign("old", "DNS:nfs.example.net", -1);
	tls_files_run("cp a.pem kept.pem && cp a.key kept.key");
	tls_files_run(wrong[_i].breaks);
	reload("\"error\": \"not reloaded, nothing has changed\"");
	reload(wrong[_i].error);
	/* The daemon still has the files as they were. */
	tls_files_run("mv kept.pem a.pem && mv kept.key a.key");
	reload("\"tls_renewed\": []");
}
END_TEST

START_TEST(a_warning_about_files_is_in_the_answer)
{
	tls_files_sign("a", "DNS:nfs.example.net", 3);
	reload("expires at");
	tls_files_run("chmod o+r a.key");
	reload("every user of this host can read the key");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reload_tls");
	TCase *tc = tcase_create("reload_tls");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_are_read_again_though_no_key_has_changed);
	tcase_add_test(tc, a_retired_key_is_not_kept_by_the_configuration);
	tcase_add_loop_test(tc, wrong_files_are_rejected_and_the_old_ones_are_kept, 0,
			    ARRAY_SIZE(wrong));
	tcase_add_test(tc, a_warning_about_files_is_in_the_answer);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
