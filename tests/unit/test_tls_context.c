// SPDX-License-Identifier: BSD-3-Clause
/* Tests files of certificates and keys, the names that they have, and the rules of a service. */
#include "tls/tls_context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"
#include "tls/tls_context_priv.h"

#define DAY CERTIFICATE_DAY_S

static struct tls_dir dir;
static char error[TLS_ERROR_BYTES];

static void setup(void)
{
	tls_dir_init(&dir);
	error[0] = '\0';
}

static void teardown(void)
{
	tls_dir_fini(&dir);
}

static struct tls_context *make(const struct tls_context_config *config)
{
	struct tls_context *context = NULL;
	int err = tls_context_new(config, &context, error);

	ck_assert_msg(err == 0, "%s", error);
	return context;
}

/* Expects an error whose text ends with @words; what is before it names the file. */
static void expect_refused(const struct tls_context_config *config, int expected, const char *words)
{
	struct tls_context *context = NULL;
	int err = tls_context_new(config, &context, error);
	size_t length = strlen(error);

	ck_assert_int_eq(err, expected);
	ck_assert_ptr_null(context);
	ck_assert_msg(length >= strlen(words) && !strcmp(error + length - strlen(words), words),
		      "\"%s\" does not end with \"%s\"", error, words);
}

static void write_file(const char *name, const char *text, size_t length, char path[TLS_PATH_BYTES])
{
	FILE *file;

	tls_dir_path(&dir, name, path);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
}

/* ---- what is accepted ---- */

START_TEST(the_first_end_of_the_chain_is_the_expiry)
{
	struct certificate_spec spec = {.issuer = dir.authority,
					.subject = "middle",
					.authority = true,
					.starts_s = -DAY,
					.ends_s = 3 * DAY};
	struct certificate *middle = certificate_new(&spec), *own;
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};
	struct tls_context *context;

	spec = (struct certificate_spec){.issuer = middle, .subject = "own"};
	own = certificate_new(&spec);
	tls_dir_path(&dir, "chain.pem", path);
	certificate_save(own, path, false);
	certificate_save_key(own, path, true, NULL);
	context = make(&config);
	ck_assert_int_eq(tls_context_expiry_s(context), certificate_end_s(own));
	tls_context_put(context);
	certificate_save(middle, path, true);
	certificate_save(dir.authority, path, true);
	context = make(&config);
	ck_assert_int_eq(tls_context_expiry_s(context), certificate_end_s(middle));
	tls_context_put(context);
	certificate_free(own);
	certificate_free(middle);
}
END_TEST

START_TEST(a_client_needs_no_certificate)
{
	struct tls_context_config config = {
		.connects = true, .ca_file = dir.ca, .server_name = "filer.example"};
	struct tls_context *context = make(&config);

	ck_assert_int_eq(tls_context_expiry_s(context), 0);
	ck_assert(!tls_context_covers(context, "filer.example"));
	tls_context_put(context);
	config.ca_file = NULL; /* the authorities of the system */
	context = make(&config);
	tls_context_put(context);
	tls_context_put(NULL);
}
END_TEST

START_TEST(names_are_those_of_rfc_9525)
{
	static const struct {
		const char *name;
		bool covered;
	} cases[] = {
		{"filer.example", true},
		{"FILER.example", true},
		{"a.storage.example", true},
		{"a.b.storage.example", false}, /* a wildcard stands for one label */
		{"storage.example", false},
		{"192.0.2.7", true},
		{"192.0.2.8", false},
		{"2001:db8::7", true},
		{"2001:DB8:0:0:0:0:0:7", true},
		{"2001:db8::8", false},
		{"common-name.example", false}, /* the subject does not count */
		{"partial1.example", false},    /* nor does a part of a label */
		{"198.51.100.1", false},        /* an address as a DNS name */
		{".storage.example", false},
		{"", false},
	};
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};
	struct tls_context *context;

	tls_dir_make(&dir, "own.pem",
		     (struct certificate_spec){
			     .subject = "common-name.example",
			     .alt_names = "DNS:filer.example,DNS:*.storage.example,IP:192.0.2.7,"
					  "IP:2001:db8::7,DNS:partial*.example,DNS:198.51.100.1",
		     },
		     path);
	context = make(&config);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(tls_context_covers(context, cases[i].name) == cases[i].covered, "%s",
			      cases[i].name);
	tls_context_put(context);
}
END_TEST

START_TEST(a_key_can_have_a_file_of_its_own)
{
	struct certificate_spec spec = {.subject = "own"};
	struct certificate *own = certificate_new(&spec);
	char cert[TLS_PATH_BYTES], key[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = cert, .key_file = key};

	tls_dir_path(&dir, "cert.pem", cert);
	tls_dir_path(&dir, "key.pem", key);
	certificate_save(own, cert, false);
	certificate_save_key(own, key, false, NULL);
	certificate_free(own);
	tls_context_put(make(&config));
}
END_TEST

/* ---- what is refused ---- */

START_TEST(dates_are_checked)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(
		&dir, "old.pem",
		(struct certificate_spec){.subject = "own", .starts_s = -2 * DAY, .ends_s = -60},
		path);
	expect_refused(&config, -EINVAL, "/old.pem: the certificate of CN=own has expired");
	tls_dir_make(&dir, "new.pem",
		     (struct certificate_spec){.subject = "own",
					       .alt_names = "DNS:filer.example",
					       .starts_s = 60,
					       .ends_s = DAY},
		     path);
	expect_refused(&config, -EINVAL,
		       "/new.pem: the certificate of filer.example is not valid yet");
}
END_TEST

START_TEST(an_authority_of_the_chain_that_has_expired_is_refused)
{
	struct certificate_spec spec = {.issuer = dir.authority,
					.subject = "middle",
					.authority = true,
					.starts_s = -2 * DAY,
					.ends_s = -60};
	struct certificate *middle = certificate_new(&spec);
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.issuer = middle, .subject = "own"},
		     path);
	certificate_save(middle, path, true);
	expect_refused(&config, -EINVAL, "/own.pem: the certificate of CN=middle has expired");
	certificate_free(middle);
}
END_TEST

START_TEST(a_chain_is_in_order)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.subject = "own"}, path);
	certificate_save(dir.foreign, path, true);
	expect_refused(
		&config, -EINVAL,
		"/own.pem: the certificate of CN=own is not signed by the one that follows it");
}
END_TEST

START_TEST(key_and_certificate_belong_together)
{
	char cert[TLS_PATH_BYTES], key[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = cert, .key_file = key};

	tls_dir_make(&dir, "a.pem", (struct certificate_spec){.subject = "a"}, cert);
	tls_dir_make(&dir, "b.pem", (struct certificate_spec){.subject = "b"}, key);
	expect_refused(&config, -EINVAL, "/a.pem");
	ck_assert_ptr_nonnull(strstr(error, "/b.pem does not belong to the certificate in "));
}
END_TEST

START_TEST(an_encrypted_key_is_refused)
{
	struct certificate_spec spec = {.subject = "own"};
	struct certificate *own = certificate_new(&spec);
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_path(&dir, "own.pem", path);
	certificate_save(own, path, false);
	certificate_save_key(own, path, true, "secret");
	expect_refused(&config, -EINVAL, "/own.pem is encrypted: remove its password");
	certificate_free(own);
}
END_TEST

START_TEST(a_weak_key_is_refused)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.subject = "own", .curve = "P-192"},
		     path);
	expect_refused(&config, -EINVAL, "the certificates cannot be used: ee key too small");
}
END_TEST

START_TEST(files_that_cannot_be_read_are_named)
{
	char path[TLS_PATH_BYTES], good[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&dir, "good.pem", (struct certificate_spec){.subject = "own"}, good);
	tls_dir_path(&dir, "none.pem", path);
	expect_refused(&config, -ENOENT, "/none.pem: No such file or directory");
	config.cert_file = good;
	config.key_file = path;
	expect_refused(&config, -ENOENT, "/none.pem: No such file or directory");
	config.key_file = NULL;
	config.ca_file = path;
	expect_refused(&config, -ENOENT, "/none.pem: No such file or directory");
	config.ca_file = dir.dir;
	expect_refused(&config, -EINVAL, " is not a file of at most 4 MiB");
}
END_TEST

START_TEST(contents_that_are_wrong_are_named)
{
	static const char broken[] =
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
	static const char broken_key[] =
		"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
	char good[TLS_PATH_BYTES], path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	tls_dir_make(&dir, "good.pem", (struct certificate_spec){.subject = "own"}, good);
	write_file("empty.pem", "", 0, path);
	expect_refused(&config, -EINVAL, "/empty.pem has no certificate in PEM");
	write_file("broken.pem", broken, strlen(broken), path);
	expect_refused(&config, -EINVAL, "");
	ck_assert_ptr_nonnull(strstr(error, "/broken.pem: certificate 1 cannot be read: "));
	config = (struct tls_context_config){.accepts = true, .cert_file = good, .ca_file = path};
	expect_refused(&config, -EINVAL, "");
	ck_assert_ptr_nonnull(strstr(error, "/broken.pem: certificate 1 cannot be read: "));
	config =
		(struct tls_context_config){.accepts = true, .cert_file = good, .key_file = dir.ca};
	expect_refused(&config, -EINVAL, "/ca.pem has no private key in PEM");
	write_file("key.pem", broken_key, strlen(broken_key), path);
	config.key_file = path;
	expect_refused(&config, -EINVAL, "");
	ck_assert_ptr_nonnull(strstr(error, "/key.pem cannot be read: "));
}
END_TEST

START_TEST(a_file_that_is_too_large_is_refused)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true, .cert_file = path};

	write_file("large.pem", "", 0, path);
	ck_assert_int_eq(truncate(path, (4 << 20) + 1), 0);
	expect_refused(&config, -EINVAL, "/large.pem is not a file of at most 4 MiB");
}
END_TEST

START_TEST(rules_that_cannot_hold_are_refused)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true};

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.subject = "own"}, path);
	expect_refused(&config, -EINVAL, "a server needs a certificate");
	config.cert_file = path;
	config.verify_client = TLS_VERIFY_OPTIONAL;
	expect_refused(&config, -EINVAL,
		       "clients cannot be verified without a file of authorities");
	config.ca_file = dir.ca;
	tls_context_put(make(&config));
}
END_TEST

#define HEX "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEF"

START_TEST(rules_have_one_of_three_forms)
{
	static const struct {
		const char *rule;
		bool good;
	} cases[] = {
		{"a.example", true},
		{"*.example", true},
		{"a-b.ex_ample", true},
		{"192.0.2.1", true},
		{"2001:db8::1", true},
		{"sha256:" HEX "f", true},
		{"SHA256:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:"
		 "88:99:aa:bb:cc:dd:ee:ff",
		 true},
		{"", false},
		{"*", false},
		{"*.", false},
		{"a.*.example", false},
		{"a*.example", false},
		{"a..example", false},
		{"-a.example", false},
		{"a-.example", false},
		{"a b", false},
		{"a.example.", false},
		{"sha256:" HEX, false},
		{"sha256:" HEX "ff", false},
		{"sha256:" HEX "g", false},
		{"sha256:" HEX "f:", false},
		{"md5:00", false},
		{"0123456789012345678901234567890123456789012345678901234567890123.example", false},
	};
	char path[TLS_PATH_BYTES];
	struct tls_context_config config = {.accepts = true,
					    .cert_file = path,
					    .ca_file = dir.ca,
					    .verify_client = TLS_VERIFY_REQUIRED,
					    .nclient_names = 1};

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.subject = "own"}, path);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		config.client_names = &cases[i].rule;
		if (cases[i].good)
			tls_context_put(make(&config));
		else
			expect_refused(&config, -EINVAL,
				       "\" is neither a DNS name, nor an IP address, nor sha256: "
				       "and a fingerprint");
	}
}
END_TEST

/* ---- comparison ---- */

static bool same(const struct tls_context_config *a, const struct tls_context_config *b)
{
	struct tls_context *first = make(a), *second = make(b);
	bool result = tls_context_same(first, second);

	tls_context_put(first);
	tls_context_put(second);
	return result;
}

START_TEST(contexts_differ_by_files_and_rules)
{
	const char *const names[] = {"a.example", "b.example"};
	const char *const others[] = {"a.example", "c.example"};
	char path[TLS_PATH_BYTES], other[TLS_PATH_BYTES];
	const struct tls_context_config config = {.accepts = true,
						  .cert_file = path,
						  .ca_file = dir.ca,
						  .client_names = names,
						  .nclient_names = 2,
						  .verify_client = TLS_VERIFY_REQUIRED};
	struct tls_context_config changed = config;

	tls_dir_make(&dir, "own.pem", (struct certificate_spec){.subject = "own"}, path);
	tls_dir_make(&dir, "other.pem", (struct certificate_spec){.subject = "own"}, other);
	ck_assert(same(&config, &changed));
	changed.cert_file = other;
	ck_assert(!same(&config, &changed));
	changed = config;
	changed.ca_file = dir.foreign_ca;
	ck_assert(!same(&config, &changed));
	changed = config;
	changed.client_names = others;
	ck_assert(!same(&config, &changed));
	changed.nclient_names = 1;
	ck_assert(!same(&config, &changed));
	changed = config;
	changed.verify_client = TLS_VERIFY_OPTIONAL;
	ck_assert(!same(&config, &changed));
	changed = config;
	changed.server_name = "filer.example";
	ck_assert(!same(&config, &changed));
	changed = config;
	changed.connects = true;
	ck_assert(!same(&config, &changed));
}
END_TEST

START_TEST(a_context_for_a_server_outlives_its_model)
{
	struct tls_context_config config = {.connects = true, .ca_file = dir.ca};
	struct tls_context *model = make(&config), *first, *second, *again;

	ck_assert_int_eq(tls_context_for_server(model, "a.example", &first), 0);
	ck_assert_int_eq(tls_context_for_server(model, "b.example", &second), 0);
	ck_assert_int_eq(tls_context_for_server(model, "a.example", &again), 0);
	ck_assert(tls_context_same(first, again));
	ck_assert(!tls_context_same(first, second));
	ck_assert(!tls_context_same(first, model));
	tls_context_put(model);
	tls_context_put(second);
	tls_context_put(again);
	ck_assert_ptr_eq(tls_context_ref(first), first);
	tls_context_put(first);
	tls_context_put(first);
}
END_TEST

/* It runs when a connection begins, on a worker. */
START_TEST(a_context_for_another_server_reads_no_authorities)
{
	struct tls_context_config config = {.connects = true};
	struct tls_context *model = make(&config), *other;

	ck_assert_int_eq(tls_context_for_server(model, "a.example", &other), 0);
	ck_assert_ptr_eq(SSL_CTX_get_cert_store(model->ctx[TLS_ROLE_CLIENT]),
			 SSL_CTX_get_cert_store(other->ctx[TLS_ROLE_CLIENT]));
	tls_context_put(model);
	ck_assert_ptr_nonnull(SSL_CTX_get_cert_store(other->ctx[TLS_ROLE_CLIENT]));
	tls_context_put(other);
}
END_TEST

static void add_refusals(TCase *tc)
{
	tcase_add_test(tc, dates_are_checked);
	tcase_add_test(tc, an_authority_of_the_chain_that_has_expired_is_refused);
	tcase_add_test(tc, a_chain_is_in_order);
	tcase_add_test(tc, key_and_certificate_belong_together);
	tcase_add_test(tc, an_encrypted_key_is_refused);
	tcase_add_test(tc, a_weak_key_is_refused);
	tcase_add_test(tc, files_that_cannot_be_read_are_named);
	tcase_add_test(tc, contents_that_are_wrong_are_named);
	tcase_add_test(tc, a_file_that_is_too_large_is_refused);
	tcase_add_test(tc, rules_that_cannot_hold_are_refused);
	tcase_add_test(tc, a_context_for_another_server_reads_no_authorities);
	tcase_add_test(tc, rules_have_one_of_three_forms);
}

int main(void)
{
	Suite *suite = suite_create("tls_context");
	TCase *tc = tcase_create("tls_context");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_first_end_of_the_chain_is_the_expiry);
	tcase_add_test(tc, a_client_needs_no_certificate);
	tcase_add_test(tc, names_are_those_of_rfc_9525);
	tcase_add_test(tc, a_key_can_have_a_file_of_its_own);
	add_refusals(tc);
	tcase_add_test(tc, contexts_differ_by_files_and_rules);
	tcase_add_test(tc, a_context_for_a_server_outlives_its_model);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
