// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests TLS without memory: in each run one allocation fails, of ours or of OpenSSL. Nothing
 * crashes or leaks, and whoever waits is told.
 *
 * The linker sends our allocations here (--wrap).
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"

#define DATA_BYTES 30000u
/* A prime, so that over some runs all places of loops fail. TLS_MEMORY_STRIDE=1: every one. */
#define STRIDE 31u

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *at, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes);
char *__wrap_strdup(const char *text);

static struct tls_rig rig;
static uint8_t data[DATA_BYTES];
static bool armed;               /* allocations are counted */
static unsigned count, fails_at; /* from 1; 0: none */

static bool fails(void)
{
	return armed && ++count == fails_at;
}

/* The helpers of the tests need their memory, so malloc() fails only while a context is made. */
static bool malloc_fails;

void *__wrap_malloc(size_t bytes)
{
	return malloc_fails && fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *at, size_t bytes)
{
	return fails() ? NULL : __real_realloc(at, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

static void *openssl_malloc(size_t bytes, const char *file, int line)
{
	return fails() ? NULL : __real_malloc(bytes);
}

static void *openssl_realloc(void *at, size_t bytes, const char *file, int line)
{
	return fails() ? NULL : __real_realloc(at, bytes);
}

static void openssl_free(void *at, const char *file, int line)
{
	free(at);
}

static unsigned stride(void)
{
	const char *text = getenv("TLS_MEMORY_STRIDE");

	return text ? (unsigned)atoi(text) : STRIDE;
}

static void setup(void)
{
	armed = malloc_fails = false;
	tls_rig_init(&rig);
	/* So that the fixture allocates nothing later. */
	rig.client.input_size = rig.server.input_size = 4 * DATA_BYTES;
	rig.client.input = malloc(4 * DATA_BYTES);
	rig.server.input = malloc(4 * DATA_BYTES);
	memset(data, 'd', sizeof(data));
}

static void teardown(void)
{
	armed = malloc_fails = false;
	tls_rig_fini(&rig);
}

/* Arms the failure of the @n-th allocation from now on. */
static void arm(unsigned n)
{
	count = 0;
	fails_at = n;
	armed = true;
}

/* Returns whether the failure was reached. */
static bool disarm(void)
{
	armed = false;
	return count >= fails_at;
}

static unsigned memory_errors, other_errors;

static bool make_context(enum tls_role role, unsigned n)
{
	const char *const names[] = {"a.example", "*.b.example"};
	char path[TLS_PATH_BYTES], error[TLS_ERROR_BYTES] = "";
	struct tls_context_config config = {
		.accepts = role == TLS_ROLE_SERVER,
		.connects = role == TLS_ROLE_CLIENT,
		.cert_file = path,
		.ca_file = rig.dir.ca,
		.verify_client = TLS_VERIFY_REQUIRED,
		.client_names = names,
		.nclient_names = 2,
		.server_name = "proxy.example",
	};
	struct tls_context *context = NULL;
	int err;

	tls_dir_path(&rig.dir, "server.pem", path);
	arm(n);
	malloc_fails = true;
	err = tls_context_new(&config, &context, error);
	malloc_fails = false;
	if (err) {
		ck_assert(disarm());
		ck_assert_ptr_null(context);
		/* OpenSSL does not always tell a lack of memory from bad contents. */
		ck_assert_msg((err == -ENOMEM && !strcmp(error, "no memory for TLS")) ||
				      (err == -EINVAL && *error),
			      "%u: %d: %s", n, err, error);
		memory_errors += err == -ENOMEM;
		other_errors += err == -EINVAL;
		return true;
	}
	tls_context_put(context);
	return disarm();
}

START_TEST(a_context_is_made_or_not)
{
	unsigned n = 1;

	make_context((enum tls_role)_i, 0); /* what OpenSSL keeps from the first one */
	memory_errors = other_errors = 0;
	while (make_context((enum tls_role)_i, n))
		n += stride();
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_gt(memory_errors, other_errors);
}
END_TEST

START_TEST(a_context_for_a_server_is_made_or_not)
{
	struct tls_context *made;
	unsigned n = 0;
	int err;

	do {
		arm(n += 1 + stride() / 4);
		made = NULL;
		err = tls_context_for_server(rig.client.context, "a.example", &made);
		ck_assert(err == (made ? 0 : -ENOMEM));
		tls_context_put(made);
	} while (disarm());
	ck_assert_uint_gt(n, 20);
}
END_TEST

static void expect_told(const struct tls_end *end)
{
	bool complete = end->input_bytes == DATA_BYTES && end->last_read == 0;

	ck_assert(end->connected);
	if (!end->error)
		ck_assert_msg(complete || (end->last_read < 0 && end->last_read != -EAGAIN),
			      "%u: %zd", fails_at, end->last_read);
}

static void write_all(struct tls_end *end)
{
	struct iovec iov = {data, DATA_BYTES};
	ssize_t n;

	if (!end->connected || end->error)
		return;
	n = stream_writev(end->stream, &iov, 1);
	if (n == DATA_BYTES)
		stream_shutdown(end->stream);
}

/* Ends that have failed are closed, as their owners do. */
static void close_failed(struct tls_end *end)
{
	bool failed = end->error || (end->last_read < 0 && end->last_read != -EAGAIN);

	if (end->stream && end->connected && failed)
		tls_end_close(end, true);
}

static void run(void)
{
	for (unsigned i = 0; i < 6; i++) {
		tls_rig_run(&rig);
		close_failed(&rig.client);
		close_failed(&rig.server);
	}
}

static bool connect_and_exchange(unsigned n)
{
	struct stream *ends[2];
	struct tls_end *both[] = {&rig.client, &rig.server};

	tls_rig_reset(&rig);
	ck_assert_int_eq(pair_new(rig.net, ends), 0);
	arm(n);
	for (unsigned i = 0; i < 2; i++)
		if (tls_rig_try(both[i], i ? TLS_ROLE_SERVER : TLS_ROLE_CLIENT, ends[i])) {
			/* Only without memory; what was not begun is still ours. */
			stream_close(ends[i], true);
			stream_free(ends[i]);
			both[i]->connected = true;
			both[i]->error = -ENOMEM;
		}
	run();
	for (unsigned i = 0; i < 2; i++)
		if (both[i]->stream)
			write_all(both[i]);
	run();
	expect_told(&rig.client);
	expect_told(&rig.server);
	return disarm();
}

START_TEST(both_ends_are_told)
{
	unsigned n = 1;

	connect_and_exchange(0);
	ck_assert_uint_eq(rig.client.input_bytes, DATA_BYTES);
	ck_assert_uint_eq(rig.server.input_bytes, DATA_BYTES);
	while (connect_and_exchange(n))
		n += stride();
	ck_assert_uint_gt(n, 500);
}
END_TEST

START_TEST(a_worker_is_made_or_not)
{
	struct tls_worker worker;

	arm(1);
	malloc_fails = true;
	ck_assert_int_eq(tls_worker_init(&worker, rig.loop, &rig.runner.runner), -ENOMEM);
	disarm();
	tls_worker_fini(&worker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls_memory");
	TCase *tc = tcase_create("tls_memory");

	if (CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free) != 1)
		abort();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_context_is_made_or_not, 0, 2);
	tcase_add_test(tc, a_context_for_a_server_is_made_or_not);
	tcase_add_test(tc, both_ends_are_told);
	tcase_add_test(tc, a_worker_is_made_or_not);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
