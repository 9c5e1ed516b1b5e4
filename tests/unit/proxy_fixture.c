// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/proxy_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "daemon/config/config.h"
#include "daemon/config/config_tls.h"
#include "daemon/control/cmd_table.h"
#include "daemon/http/http.h"
#include "daemon/proxy/reload.h"
#include "rpc/record_mark.h"
#include "rpc/xdr.h"
#include "tests/lib/time_limit.h"

#define MESSAGE_MAX 0x200000u
#define PATIENCE_S  20 /* for anything to come */

#define PROXIES_MAX 2u

struct proxy *proxy;
char control_path[64];

unsigned fixture_workers;
const char *fixture_globals;

static char dir[32];

/* A proxy with a file, a main thread and a control socket of its own. */
static struct running {
	char control_path[64];
	char file[64];
	struct config *config;
	struct loop *loop;
	struct proxy *proxy;
	struct cmd_table *control;
	struct snapshot_collector *snapshot_collector;
	struct http *http;
	pthread_t thread;
} running[PROXIES_MAX];
static unsigned nrunning;

void fixture_setup(void)
{
	strcpy(dir, "/tmp/test-proxy-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(control_path, sizeof(control_path), "%s/control0.sock", dir);
	log_set_level(LOG_LEVEL_ERROR);
	proxy = NULL;
	nrunning = 0;
	fixture_workers = 2;
	fixture_globals = "";
}

void fixture_teardown(void)
{
	if (proxy)
		fixture_stop();
	rmdir(dir);
}

static void *run(void *arg)
{
	event_loop_run(arg);
	return NULL;
}

static void stop(void *arg)
{
	event_loop_stop(arg);
}

static void write_file(const struct running *at, const char *globals, const char *services)
{
	FILE *file = fopen(at->file, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file,
		"control = \"%s\"; workers = %u; memory_limit_mib = 512; %s\nservices = ( %s );\n",
		at->control_path, fixture_workers, globals, services);
	fclose(file);
}

void fixture_rewrite(const char *globals, const char *services, ...)
{
	char text[2048];
	va_list args;

	va_start(args, services);
	vsnprintf(text, sizeof(text), services, args);
	va_end(args);
	write_file(&running[0], globals, text);
}

static char aside[80], barrier[80];
static int barrier_fd = -1;

void fixture_block_file(void)
{
	snprintf(aside, sizeof(aside), "%s.aside", running[0].file);
	snprintf(barrier, sizeof(barrier), "%s.pipe", running[0].file);
	ck_assert_int_eq(mkfifo(barrier, 0600), 0);
	ck_assert_int_eq(rename(running[0].file, aside), 0);
	ck_assert_int_eq(symlink(barrier, running[0].file), 0);
}

void fixture_await_reader(void)
{
	/* Waits until the other end is open. */
	barrier_fd = open(barrier, O_WRONLY);
	ck_assert_int_ge(barrier_fd, 0);
}

void fixture_unblock_file(void)
{
	static const char nonsense[] = "services = 5;\n";
	int fd;

	if (barrier_fd < 0)
		fixture_await_reader();
	fd = barrier_fd;
	barrier_fd = -1;
	ck_assert_int_eq(nrunning ? rename(aside, running[0].file) : unlink(aside), 0);
	unlink(barrier);
	ck_assert_int_eq(write(fd, nonsense, strlen(nonsense)), (ssize_t)strlen(nonsense));
	close(fd);
}

void fixture_start(const char *services, ...)
{
	struct running *at = &running[nrunning];
	char text[2048];
	va_list args;

	ck_assert_uint_lt(nrunning, PROXIES_MAX);
	va_start(args, services);
	vsnprintf(text, sizeof(text), services, args);
	va_end(args);
	snprintf(at->control_path, sizeof(at->control_path), "%s/control%u.sock", dir, nrunning);
	snprintf(at->file, sizeof(at->file), "%s/conf%u", dir, nrunning);
	write_file(at, fixture_globals, text);
	ck_assert_int_eq(config_load(at->file, stderr, &at->config), 0);
	ck_assert_int_eq(config_tls_load(at->config, stderr), 0);
	at->loop = event_loop_new();
	ck_assert_ptr_nonnull(at->loop);
	ck_assert_int_eq(proxy_start(at->loop, at->config, &at->proxy), 0);
	at->snapshot_collector = snapshot_collector_new(at->proxy);
	ck_assert_ptr_nonnull(at->snapshot_collector);
	ck_assert_int_eq(reload_open(at->proxy), 0);
	ck_assert_int_eq(cmd_table_open(at->proxy, at->snapshot_collector, &at->control), 0);
	ck_assert_int_eq(http_open(at->proxy, at->snapshot_collector, &at->http), 0);
	ck_assert_int_eq(pthread_create(&at->thread, NULL, run, at->loop), 0);
	nrunning++;
	proxy = running[0].proxy;
}

void fixture_stop(void)
{
	for (unsigned i = 0; i < nrunning; i++) {
		struct running *at = &running[i];

		ck_assert_int_eq(event_loop_post(at->loop, stop, at->loop), 0);
		pthread_join(at->thread, NULL);
		reload_close(at->proxy);
		http_close(at->http);
		cmd_table_close(at->control);
		snapshot_collector_close(at->snapshot_collector);
		proxy_stop(at->proxy);
		event_loop_free(at->loop);
		config_free(at->config);
		unlink(at->file);
	}
	nrunning = 0;
	proxy = NULL;
}

unsigned fixture_connections(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < nrunning; i++)
		sum += proxy_connections(running[i].proxy);
	return sum;
}

/* Peers */

/* Waits until @fd can be read or written, or has ended. */
static void await_ready(int fd, short events)
{
	struct pollfd pfd = {.fd = fd, .events = events};
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (poll(&pfd, 1, time_limit_left_ms(&limit)) <= 0)
		if (time_limit_passed(&limit))
			ck_abort_msg("nothing comes");
}

/* As recv() with MSG_WAITALL; received bytes restart the limit. */
static ssize_t receive(int fd, void *to, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n;

		await_ready(fd, POLLIN);
		n = recv(fd, (uint8_t *)to + have, len - have, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return have ? (ssize_t)have : n;
		have += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)have;
}

static struct sockaddr_in address(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return fd;
}

int fixture_listen(uint16_t port)
{
	struct sockaddr_in addr = address(port);
	int fd = new_socket();

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 1024), 0);
	return fd;
}

/*
 * Of those that the kernel gives to nobody by itself: what connects meanwhile takes none of them.
 */
uint16_t fixture_port(void)
{
	static uint16_t next;
	int fd;

	if (!next)
		next = (uint16_t)(10000 + getpid() % 20000);
	for (;; next++) {
		struct sockaddr_in addr = address(next);

		fd = new_socket();
		if (!bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
			break;
		close(fd);
	}
	close(fd);
	return next++;
}

int fixture_accept(int listener, uint16_t *from)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int fd;

	await_ready(listener, POLLIN);
	fd = accept(listener, (struct sockaddr *)&addr, &len);
	ck_assert_int_ge(fd, 0);
	if (from)
		*from = ntohs(addr.sin_port);
	return fd;
}

bool fixture_is_quiet(int fd, int ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, ms) == 0;
}

int fixture_connect_from(uint16_t from, uint16_t port)
{
	struct sockaddr_in addr = address(from);
	int fd = new_socket();

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	addr = address(port);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

int fixture_connect(uint16_t port)
{
	struct sockaddr_in addr = address(port);
	int fd = new_socket();

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

void fixture_reset(int fd)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

static void send_record(int fd, const uint32_t *words, size_t nwords, size_t more_bytes)
{
	size_t bytes = nwords * 4 + more_bytes, sent = 0;
	uint8_t *record = calloc(1, RECORD_MARK_BYTES + bytes);

	ck_assert_ptr_nonnull(record);
	record_mark_encode(record, (uint32_t)bytes);
	for (size_t i = 0; i < nwords; i++)
		be32_put(record + RECORD_MARK_BYTES + 4 * i, words[i]);
	while (sent < RECORD_MARK_BYTES + bytes) {
		ssize_t n;

		await_ready(fd, POLLOUT);
		n = send(fd, record + sent, RECORD_MARK_BYTES + bytes - sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		/* A reset in between is for the reader to find. */
		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? (size_t)n : 0;
	}
	free(record);
}

void send_call(int fd, uint32_t xid, size_t args_bytes)
{
	const uint32_t words[] = {xid, 0, 2, 400000, 1, 1, 0, 0, 0, 0};

	send_record(fd, words, ARRAY_SIZE(words), args_bytes);
}

void send_call_to(int fd, uint32_t xid, uint32_t program, size_t args_bytes)
{
	const uint32_t words[] = {xid, 0, 2, program, 3, 0, 0, 0, 0, 0};

	send_record(fd, words, ARRAY_SIZE(words), args_bytes);
}

void send_reply(int fd, uint32_t xid, size_t result_bytes)
{
	const uint32_t words[] = {xid, 1, 0, 0, 0, 0};

	send_record(fd, words, ARRAY_SIZE(words), result_bytes);
}

size_t read_message(int fd, uint32_t xid)
{
	uint32_t got;
	size_t len = read_any(fd, &got);

	ck_assert_uint_eq(got, xid);
	return len;
}

static uint8_t message[MESSAGE_MAX];

uint32_t read_stat(int fd, uint32_t xid)
{
	ck_assert_uint_ge(read_message(fd, xid), FIXTURE_REPLY_BYTES);
	ck_assert_uint_eq(be32_get(message + 8), RPC_MSG_ACCEPTED);
	return be32_get(message + 20);
}

size_t read_any(int fd, uint32_t *xid)
{
	uint8_t mark[RECORD_MARK_BYTES];
	size_t len;

	ck_assert_int_eq(receive(fd, mark, sizeof(mark)), sizeof(mark));
	len = be32_get(mark) & RECORD_MAX_FRAGMENT_BYTES;
	ck_assert_uint_le(len, sizeof(message));
	ck_assert_int_eq(receive(fd, message, len), (ssize_t)len);
	*xid = be32_get(message);
	return len;
}

/* NFS, procedure 0. */
static bool is_own_null(void)
{
	return be32_get(message + 12) == 100003 && be32_get(message + 20) == 0;
}

int fixture_accept_call(int listener, uint32_t xid, uint16_t *from)
{
	for (;;) {
		int fd = fixture_accept(listener, from);
		uint32_t got;
		size_t len = read_any(fd, &got);

		if (got == xid && !is_own_null()) {
			ck_assert_uint_eq(len, FIXTURE_CALL_BYTES);
			return fd;
		}
		ck_assert(is_own_null());
		send_reply(fd, got, 0);
		close(fd);
	}
}

bool try_read_any(int fd, uint32_t *xid)
{
	uint8_t mark[RECORD_MARK_BYTES], answer[1024];
	size_t len;

	if (receive(fd, mark, sizeof(mark)) != sizeof(mark))
		return false;
	len = be32_get(mark) & RECORD_MAX_FRAGMENT_BYTES;
	ck_assert_uint_le(len, sizeof(answer));
	if (receive(fd, answer, len) != (ssize_t)len)
		return false;
	*xid = be32_get(answer);
	return true;
}

void read_end(int fd)
{
	char bytes[4096];
	ssize_t n;

	do {
		await_ready(fd, POLLIN);
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	ck_assert_msg(n == 0 || errno == ECONNRESET, "%s", strerror(errno));
}

int control_send(const char *request)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, control_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
	return fd;
}

struct json_t *control_try_answer(int fd)
{
	FILE *stream = fdopen(fd, "r");
	json_t *json = json_loadf(stream, 0, NULL);

	fclose(stream);
	return json;
}

struct json_t *control_answer(int fd)
{
	json_t *json = control_try_answer(fd);

	ck_assert_ptr_nonnull(json);
	return json;
}

struct json_t *control_ask(const char *request)
{
	return control_answer(control_send(request));
}
