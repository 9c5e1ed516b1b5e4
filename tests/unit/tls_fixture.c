// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tls_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define SECOND_US 1000000u

int64_t tls_clock_ahead_s;

time_t time(time_t *now)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += tls_clock_ahead_s;
	if (now)
		*now = ts.tv_sec;
	return ts.tv_sec;
}

/* Files */

void tls_dir_path(const struct tls_dir *dir, const char *name, char path[TLS_PATH_BYTES])
{
	snprintf(path, TLS_PATH_BYTES, "%.200s/%.40s", dir->dir, name);
}

static struct certificate *make_authority(struct tls_dir *dir, const char *name,
					  char path[TLS_PATH_BYTES])
{
	const struct certificate_spec spec = {.subject = name, .authority = true};
	struct certificate *authority = certificate_new(&spec);

	tls_dir_path(dir, name, path);
	certificate_save(authority, path, false);
	return authority;
}

void tls_dir_init(struct tls_dir *dir)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir->dir, sizeof(dir->dir), "%.200s/test-tls-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir->dir));
	dir->authority = make_authority(dir, "ca.pem", dir->ca);
	dir->foreign = make_authority(dir, "foreign.pem", dir->foreign_ca);
}

void tls_dir_fini(struct tls_dir *dir)
{
	DIR *entries = opendir(dir->dir);
	struct dirent *entry;
	char path[TLS_PATH_BYTES];

	ck_assert_ptr_nonnull(entries);
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.') {
			tls_dir_path(dir, entry->d_name, path);
			ck_assert_int_eq(unlink(path), 0);
		}
	closedir(entries);
	ck_assert_int_eq(rmdir(dir->dir), 0);
	certificate_free(dir->authority);
	certificate_free(dir->foreign);
}

void tls_dir_make(struct tls_dir *dir, const char *name, struct certificate_spec spec,
		  char path[TLS_PATH_BYTES])
{
	struct certificate *certificate;

	if (!spec.issuer)
		spec.issuer = dir->authority;
	certificate = certificate_new(&spec);
	tls_dir_path(dir, name, path);
	certificate_save(certificate, path, false);
	certificate_save_key(certificate, path, true, NULL);
	certificate_free(certificate);
}

/* Events of an end */

static void read_all(struct tls_end *end)
{
	uint8_t bytes[5000];
	struct iovec iov = {bytes, end->read_bytes ? end->read_bytes : sizeof(bytes)};

	end->last_read = stream_readv(end->stream, &iov, 1);
	if (end->last_read <= 0)
		return;
	if (end->input_size - end->input_bytes < (size_t)end->last_read) {
		end->input_size = 2 * end->input_size + sizeof(bytes);
		end->input = realloc(end->input, end->input_size);
		ck_assert_ptr_nonnull(end->input);
	}
	memcpy(end->input + end->input_bytes, bytes, (size_t)end->last_read);
	end->input_bytes += (size_t)end->last_read;
}

static void on_ready(void *arg, unsigned events)
{
	struct tls_end *end = arg;

	end->events = events;
	end->seen |= events;
	end->nready++;
	if (events & LOOP_WRITE && end->rig->stop_writing)
		stream_watch(end->stream, LOOP_LOST);
	if (events & LOOP_ERROR)
		stream_watch(end->stream, 0);
	if (!end->drains || !(events & LOOP_READ))
		return;
	read_all(end);
	if (end->last_read == 0 || (end->last_read < 0 && end->last_read != -EAGAIN))
		stream_watch(end->stream, LOOP_LOST);
}

static void on_connected(void *arg, int error)
{
	struct tls_end *end = arg;

	ck_assert(!end->connected);
	end->connected = true;
	end->error = error;
	if (!error && end->drains)
		stream_watch(end->stream, LOOP_READ | LOOP_LOST);
}

static const struct stream_events end_events = {.ready = on_ready, .connected = on_connected};

/* The rig */

void tls_rig_context(struct tls_end *end, const struct tls_context_config *config)
{
	char error[TLS_ERROR_BYTES] = "";
	int err;

	tls_context_put(end->context);
	end->context = NULL;
	err = tls_context_new(config, &end->context, error);
	ck_assert_msg(err == 0, "%d: %s", err, error);
}

static void make_contexts(struct tls_rig *rig)
{
	char path[TLS_PATH_BYTES];
	struct tls_context_config server = {.accepts = true, .cert_file = path};
	struct tls_context_config client = {
		.connects = true, .ca_file = rig->dir.ca, .server_name = "proxy.example"};

	tls_dir_make(&rig->dir, "server.pem",
		     (struct certificate_spec){.subject = "server",
					       .alt_names = "DNS:proxy.example,IP:192.0.2.1"},
		     path);
	tls_rig_context(&rig->server, &server);
	tls_rig_context(&rig->client, &client);
}

void tls_rig_init(struct tls_rig *rig)
{
	*rig = (struct tls_rig){.client = {.rig = rig, .drains = true},
				.server = {.rig = rig, .drains = true}};
	tls_dir_init(&rig->dir);
	rig->loop = fake_loop_new();
	rig->net = pair_net_new(rig->loop, NULL);
	fake_runner_init(&rig->runner);
	ck_assert_int_eq(tls_worker_init(&rig->worker, rig->loop, &rig->runner.runner), 0);
	make_contexts(rig);
}

void tls_rig_faults(struct tls_rig *rig, const struct pair_faults *faults)
{
	pair_net_free(rig->net);
	rig->net = pair_net_new(rig->loop, faults);
}

static void end_fini(struct tls_end *end)
{
	tls_end_close(end, true);
	tls_context_put(end->context);
	free(end->input);
}

static void raw_close(struct tls_rig *rig)
{
	if (!rig->raw)
		return;
	stream_close(rig->raw, true);
	stream_free(rig->raw);
	rig->raw = NULL;
}

void tls_rig_fini(struct tls_rig *rig)
{
	end_fini(&rig->client);
	end_fini(&rig->server);
	raw_close(rig);
	fake_runner_release(&rig->runner);
	tls_rig_run(rig);
	ck_assert_uint_eq(rig->worker.running, 0);
	tls_worker_fini(&rig->worker);
	pair_net_free(rig->net);
	fake_loop_free(rig->loop);
	tls_dir_fini(&rig->dir);
}

int tls_rig_try(struct tls_end *end, enum tls_role role, struct stream *inner)
{
	struct tls_rig *rig = end->rig;
	int err = tls_stream_new(&rig->worker, &end->counters, end->context, role, inner,
				 rig->early, rig->early_bytes, &end->stream);

	if (!err)
		stream_bind(end->stream, &end_events, end);
	return err;
}

static void end_new(struct tls_end *end, enum tls_role role, struct stream *inner)
{
	ck_assert_int_eq(tls_rig_try(end, role, inner), 0);
}

void tls_rig_connect(struct tls_rig *rig)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(rig->net, ends), 0);
	end_new(&rig->client, TLS_ROLE_CLIENT, ends[0]);
	end_new(&rig->server, TLS_ROLE_SERVER, ends[1]);
}

static void end_reset(struct tls_end *end)
{
	tls_end_close(end, true);
	end->connected = false;
	end->error = 0;
	end->last_read = 0;
	end->input_bytes = 0;
	end->nready = 0;
	memset(&end->counters, 0, sizeof(end->counters));
}

void tls_rig_reset(struct tls_rig *rig)
{
	end_reset(&rig->client);
	end_reset(&rig->server);
	raw_close(rig);
	tls_rig_run(rig);
}

void tls_rig_open(struct tls_rig *rig)
{
	tls_rig_connect(rig);
	tls_rig_run(rig);
	ck_assert_msg(rig->client.connected && !rig->client.error, "%s",
		      tls_stream_error(rig->client.stream));
	ck_assert_msg(rig->server.connected && !rig->server.error, "%s",
		      tls_stream_error(rig->server.stream));
}

static void raw_ready(void *arg, unsigned events)
{
}

static const struct stream_events raw_events = {.ready = raw_ready};

void tls_rig_alone(struct tls_rig *rig, struct tls_end *end, enum tls_role role)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(rig->net, ends), 0);
	end_new(end, role, ends[0]);
	rig->raw = ends[1];
	stream_bind(rig->raw, &raw_events, NULL);
}

void tls_rig_run(struct tls_rig *rig)
{
	fake_loop_run(rig->loop);
	fake_loop_advance(rig->loop, SECOND_US);
}

void tls_end_close(struct tls_end *end, bool reset)
{
	if (!end->stream)
		return;
	stream_close(end->stream, reset);
	stream_free(end->stream);
	end->stream = NULL;
}

int tls_end_write(struct tls_end *end, const void *bytes, size_t length)
{
	size_t done = 0;
	unsigned stalls = 0;

	while (done < length) {
		struct iovec iov = {(char *)bytes + done, length - done};
		ssize_t n = stream_writev(end->stream, &iov, 1);

		if (n < 0 && n != -EAGAIN)
			return (int)n;
		if (n > 0)
			done += (size_t)n;
		stalls = n > 0 ? 0 : stalls + 1;
		ck_assert_uint_lt(stalls, 1000);
		tls_rig_run(end->rig);
	}
	return 0;
}
