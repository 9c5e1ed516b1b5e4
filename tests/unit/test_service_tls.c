// SPDX-License-Identifier: BSD-3-Clause
/* Tests the TLS context of a running service: references, servers of other names, and reloads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/config/config_tls.h"
#include "daemon/service/service_tls.h"
#include "tests/lib/test.h"
#include "tests/lib/tls_files.h"
#include "tests/unit/config_fixture.h"

#define DAY_S   86400
#define READERS 3
#define ROUNDS  300

static struct service_tls *tls;

static void setup(void)
{
	config_fixture_setup();
	tls_files_setup();
	tls_files_sign("a", "DNS:nfs.example.net", 100);
	tls = NULL;
}

static void teardown(void)
{
	service_tls_put(tls);
	config_fixture_teardown();
	tls_files_teardown();
}

/* Loads a file whose '@' stand for the directory. Returns the result of the files. */
static int load(const char *keys)
{
	char text[1024], *errors;
	size_t bytes;
	FILE *out = open_memstream(&errors, &bytes);
	int rc;

	snprintf(text, sizeof(text), "services = ( { name = \"a\"; %s } );", tls_files_text(keys));
	ck_assert_msg(!config_fixture_load(text), "%s", fixture.errors);
	rc = config_tls_load(fixture.config, out);
	fclose(out);
	free(errors);
	return rc;
}

static void load_good(const char *keys)
{
	ck_assert_int_eq(load(keys), 0);
}

static void begin(const char *keys)
{
	load_good(keys);
	tls = service_tls_new(fixture.config->services);
	ck_assert_ptr_nonnull(tls);
}

static bool reload(const char *keys)
{
	load_good(keys);
	return service_tls_replace(tls, fixture.config->services);
}

#define FILES    "tls_cert_file = \"@/a.pem\"; tls_key_file = \"@/a.key\"; "
#define ACCEPTS  TCP_TO_TCP "tls = \"allowed\"; " FILES
#define CONNECTS TCP_TO_TCP "tls_connect = \"required\"; tls_ca_file = \"@/ca.pem\"; "

START_TEST(a_service_without_tls_has_no_context)
{
	struct tls_context *context = (struct tls_context *)tls_files_dir;

	begin(TCP_TO_TCP);
	ck_assert_ptr_null(service_tls_for_clients(tls));
	ck_assert_int_eq(service_tls_for_server(tls, "filer", &context), 0);
	ck_assert_ptr_null(context);
	ck_assert_int_eq(service_tls_expiry_s(tls), 0);
	ck_assert(!reload(TCP_TO_TCP));
}
END_TEST

START_TEST(each_side_has_a_context_only_if_its_key_says_so)
{
	struct tls_context *context = NULL;

	begin(ACCEPTS);
	context = service_tls_for_clients(tls);
	ck_assert_ptr_nonnull(context);
	tls_context_put(context);
	ck_assert_int_eq(service_tls_for_server(tls, "filer", &context), 0);
	ck_assert_ptr_null(context);
	service_tls_put(tls);
	begin(CONNECTS);
	ck_assert_ptr_null(service_tls_for_clients(tls));
	ck_assert_int_eq(service_tls_for_server(tls, "filer", &context), 0);
	ck_assert_ptr_nonnull(context);
	tls_context_put(context);
}
END_TEST

START_TEST(the_end_of_the_certificate_is_that_of_new_connections)
{
	begin(ACCEPTS);
	ck_assert_int_gt(service_tls_expiry_s(tls), time(NULL) + 99 * DAY_S);
	tls_files_sign("a", "DNS:nfs.example.net", 200);
	ck_assert(reload(ACCEPTS));
	ck_assert_int_gt(service_tls_expiry_s(tls), time(NULL) + 199 * DAY_S);
}
END_TEST

/* Each server has the name of its own URI. */
START_TEST(servers_of_other_names_share_the_files)
{
	struct tls_context *first, *again, *other;

	begin(CONNECTS);
	ck_assert_int_eq(service_tls_for_server(tls, "filer", &first), 0);
	ck_assert_int_eq(service_tls_for_server(tls, "FILER", &again), 0);
	ck_assert_ptr_eq(first, again);
	ck_assert_int_eq(service_tls_for_server(tls, "other", &other), 0);
	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_ne(first, other);
	tls_context_put(first);
	tls_context_put(again);
	tls_context_put(other);
}
END_TEST

/* A certificate has no interface. */
START_TEST(the_name_of_a_link_local_server_has_no_zone)
{
	struct tls_context *first, *again;
	char text[CONFIG_TLS_HOST_BYTES];

	ck_assert_str_eq(config_tls_host_name("fe80::1%eth0", text), "fe80::1");
	ck_assert_str_eq(config_tls_host_name("filer", text), "filer");
	begin("listen = \"tcp://127.0.0.1:111\"; connect = \"tcp://[fe80::1%lo]\"; "
	      "tls_connect = \"required\"; tls_ca_file = \"@/ca.pem\"; ");
	ck_assert_int_eq(service_tls_for_server(tls, "fe80::1%lo", &first), 0);
	ck_assert_int_eq(service_tls_for_server(tls, "fe80::1", &again), 0);
	ck_assert_ptr_eq(first, again);
	tls_context_put(first);
	tls_context_put(again);
}
END_TEST

START_TEST(a_name_in_the_file_is_that_of_each_server)
{
	struct tls_context *first, *other;

	begin(CONNECTS "tls_server_name = \"nfs.example.net\"; ");
	ck_assert_int_eq(service_tls_for_server(tls, "filer", &first), 0);
	ck_assert_int_eq(service_tls_for_server(tls, "other", &other), 0);
	ck_assert_ptr_eq(first, other);
	tls_context_put(first);
	tls_context_put(other);
}
END_TEST

/* ---- reload ---- */

START_TEST(files_that_have_not_changed_change_nothing)
{
	struct tls_context *before, *after;

	begin(ACCEPTS);
	before = service_tls_for_clients(tls);
	ck_assert(!reload(ACCEPTS));
	after = service_tls_for_clients(tls);
	ck_assert_ptr_eq(before, after);
	tls_context_put(before);
	tls_context_put(after);
}
END_TEST

/* A connection keeps its context, after the service and the configuration have gone, too. */
START_TEST(a_connection_keeps_the_context_that_it_began_with)
{
	struct tls_context *old, *new;

	begin(ACCEPTS);
	old = service_tls_for_clients(tls);
	tls_files_sign("a", "DNS:other.example.net", 100);
	ck_assert(reload(ACCEPTS));
	new = service_tls_for_clients(tls);
	ck_assert_ptr_ne(old, new);
	service_tls_put(tls);
	tls = NULL;
	config_free(fixture.config);
	fixture.config = NULL;
	ck_assert(tls_context_covers(old, "nfs.example.net"));
	ck_assert(!tls_context_covers(old, "other.example.net"));
	ck_assert(tls_context_covers(new, "other.example.net"));
	tls_context_put(old);
	tls_context_put(new);
}
END_TEST

static const char *const broken[] = {
	"rm a.pem",        "rm a.key",
	"cp ca.key a.key", "cp old.pem a.pem; cp old.key a.key",
	"echo x >a.pem",   "head -c 300 a.pem >part; mv part a.pem",
};

START_TEST(wrong_files_leave_the_service_what_it_has)
{
	struct tls_context *context;

	tls_files_sign("old", "DNS:nfs.example.net", -1);
	begin(ACCEPTS);
	tls_files_run(broken[_i]);
	ck_assert_int_ne(load(ACCEPTS), 0);
	ck_assert_ptr_null(fixture.config->services[0].tls.context);
	ck_assert(!service_tls_replace(tls, fixture.config->services));
	context = service_tls_for_clients(tls);
	ck_assert(tls_context_covers(context, "nfs.example.net"));
	tls_context_put(context);
}
END_TEST

START_TEST(a_reference_outlives_the_service)
{
	struct service_tls *mine;

	begin(ACCEPTS);
	mine = service_tls_ref(tls);
	service_tls_put(tls);
	tls = NULL;
	ck_assert_int_gt(service_tls_expiry_s(mine), time(NULL));
	service_tls_put(mine);
	service_tls_put(NULL);
}
END_TEST

static atomic_bool over;

static void *use(void *arg)
{
	(void)arg;
	while (!atomic_load(&over)) {
		struct tls_context *context = service_tls_for_clients(tls);

		ck_assert(tls_context_covers(context, "nfs.example.net"));
		ck_assert_int_gt(service_tls_expiry_s(tls), 0);
		tls_context_put(context);
	}
	return NULL;
}

START_TEST(threads_use_contexts_while_others_replace_them)
{
	pthread_t threads[READERS];
	struct config *configs[2];

	begin(ACCEPTS);
	configs[0] = config_ref(fixture.config);
	tls_files_sign("a", "DNS:nfs.example.net", 200);
	load_good(ACCEPTS);
	configs[1] = config_ref(fixture.config);
	atomic_store(&over, false);
	for (size_t i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, use, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++)
		ck_assert(service_tls_replace(tls, configs[(i + 1) % 2]->services));
	atomic_store(&over, true);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	config_free(configs[0]);
	config_free(configs[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("service_tls");
	TCase *tc = tcase_create("service_tls");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_service_without_tls_has_no_context);
	tcase_add_test(tc, each_side_has_a_context_only_if_its_key_says_so);
	tcase_add_test(tc, the_end_of_the_certificate_is_that_of_new_connections);
	tcase_add_test(tc, servers_of_other_names_share_the_files);
	tcase_add_test(tc, the_name_of_a_link_local_server_has_no_zone);
	tcase_add_test(tc, a_name_in_the_file_is_that_of_each_server);
	tcase_add_test(tc, files_that_have_not_changed_change_nothing);
	tcase_add_test(tc, a_connection_keeps_the_context_that_it_began_with);
	tcase_add_loop_test(tc, wrong_files_leave_the_service_what_it_has, 0, ARRAY_SIZE(broken));
	tcase_add_test(tc, a_reference_outlives_the_service);
	tcase_add_test(tc, threads_use_contexts_while_others_replace_them);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
