// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests one service for a filer: where a client's Calls are sent, and how rpcbind provides the port
 * of MOUNT.
 */
#include <jansson.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "nfs/proc_table.h"
#include "rpc/record_mark.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "tests/unit/proxy_scene.h"

#define UNKNOWN    400000u
#define RPCBIND_AT 111

static uint16_t mount_port;
static int mountd, rpcbind;
static int silent; /* a connection of rpcbind's that is there until the proxy has ended; -1: none */

static void setup(void)
{
	scene_setup();
	mount_port = fixture_port();
	mountd = fixture_listen(mount_port);
	rpcbind = silent = -1;
}

static void teardown(void)
{
	scene_teardown();
	if (mountd >= 0)
		close(mountd);
	if (rpcbind >= 0)
		close(rpcbind);
	if (silent >= 0)
		close(silent);
}

static const char *at_mountd(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "tcp://127.0.0.1:%u", mount_port);
	return text;
}

/*
 * A service from TCP to TCP; one that RDMA clients come to, behind a proxy that passes all; one
 * before a proxy.
 */
static void start_near(const char *mount)
{
	char more[128];

	snprintf(more, sizeof(more), "mount = \"%s\";", mount);
	start_tcp(more);
}

static void start_far(const char *mount)
{
	uint16_t middle = fixture_port();

	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      front, middle);
	fixture_start("{ name = \"two\"; listen = \"iwarp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; mount = \"%s\"; }",
		      middle, back, mount);
}

static void start_before(const char *mount)
{
	uint16_t middle = fixture_port();

	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; "
		      "mount = \"%s\"; }",
		      front, middle, mount);
	fixture_start("{ name = \"two\"; listen = \"iwarp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; }",
		      middle, back);
}

static void (*const starts[])(const char *mount) = {start_near, start_far, start_before};
#define STARTS 3

/* A client whose first Call is one to @program, and has reached @listener. */
static void open_to(int listener, uint32_t program, int *client, int *upstream)
{
	*client = fixture_connect(front);
	send_call_to(*client, 1, program, 0);
	*upstream = fixture_accept(listener, NULL);
	ck_assert_uint_eq(read_message(*upstream, 1), FIXTURE_CALL_BYTES);
	send_reply(*upstream, 1, 0);
	ck_assert_uint_eq(read_stat(*client, 1), RPC_SUCCESS);
}

static void pass(int client, int upstream, uint32_t program, uint32_t xid, size_t bytes)
{
	send_call_to(client, xid, program, bytes);
	ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES + bytes);
	send_reply(upstream, xid, 0);
	ck_assert_uint_eq(read_stat(client, xid), RPC_SUCCESS);
}

static void is_refused(int client, uint32_t program, uint32_t xid, size_t bytes)
{
	send_call_to(client, xid, program, bytes);
	ck_assert_uint_eq(read_stat(client, xid), RPC_PROG_UNAVAIL);
}

START_TEST(calls_go_by_their_program)
{
	int nfs, mount, to_nfs, checks_mount;

	starts[_i](at_mountd());
	open_to(server, NFS_PROGRAM_NFS, &nfs, &to_nfs);
	/* Over iwarp the server is reached first, and left again. */
	open_to(mountd, NFS_PROGRAM_MOUNT, &mount, &checks_mount);
	for (uint32_t i = 0; i < 4; i++) {
		pass(nfs, to_nfs, i % 2 ? NFS_PROGRAM_NFSACL : NFS_PROGRAM_NFS, 10 + i, i * 30000);
		pass(mount, checks_mount, NFS_PROGRAM_MOUNT, 20 + i, i * 3000);
	}
	close(nfs);
	close(mount);
	read_end(to_nfs);
	read_end(checks_mount);
	close(to_nfs);
	close(checks_mount);
}
END_TEST

START_TEST(calls_that_go_elsewhere_get_prog_unavail)
{
	static const size_t sizes[] = {0, 9000, 300000};
	int nfs, mount, to_nfs, checks_mount;

	starts[_i](at_mountd());
	open_to(server, NFS_PROGRAM_NFS, &nfs, &to_nfs);
	open_to(mountd, NFS_PROGRAM_MOUNT, &mount, &checks_mount);
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		is_refused(nfs, NFS_PROGRAM_MOUNT, 10 + i, sizes[i]);
		is_refused(nfs, UNKNOWN, 20 + i, sizes[i]);
		is_refused(nfs, NFS_PROGRAM_NLM, 30 + i, sizes[i]);
		is_refused(mount, NFS_PROGRAM_NFS, 40 + i, sizes[i]);
		is_refused(mount, UNKNOWN, 50 + i, sizes[i]);
		pass(nfs, to_nfs, NFS_PROGRAM_NFS, 60 + i, sizes[i]);
		pass(mount, checks_mount, NFS_PROGRAM_MOUNT, 70 + i, 100);
	}
	close(nfs);
	close(mount);
	close(to_nfs);
	close(checks_mount);
}
END_TEST

/* It counts as one for the server, so that a connection without use does not stay without one. */
START_TEST(a_first_call_to_an_unknown_program_connects_to_the_server)
{
	int client = -1, upstream;

	starts[_i](_i == 0 ? "off" : at_mountd());
	client = fixture_connect(front);
	is_refused(client, _i == 0 ? NFS_PROGRAM_MOUNT : UNKNOWN, 1, 0);
	upstream = fixture_accept(server, NULL);
	pass(client, upstream, NFS_PROGRAM_NFS, 2, 0);
	is_refused(client, NFS_PROGRAM_MOUNT, 3, 0);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(with_connect_all_calls_go_there)
{
	int client, upstream;

	starts[_i]("connect");
	open_to(server, NFS_PROGRAM_MOUNT, &client, &upstream);
	pass(client, upstream, NFS_PROGRAM_NFS, 2, 0);
	pass(client, upstream, UNKNOWN, 3, 0);
	close(client);
	close(upstream);
}
END_TEST

/* ---- a server that does not have MOUNT ---- */

static atomic_uint warnings;

static bool count_warning(void *arg, const char *line, size_t len)
{
	atomic_fetch_add(&warnings,
			 strstr(line, ", which the server does not serve at the address") != NULL);
	return true;
}

static uint64_t no_time(clockid_t clock)
{
	return 0;
}

static void send_prog_unavail(int fd, uint32_t xid)
{
	uint8_t record[4 + 24];
	struct xdr_writer w;

	xdr_writer_init(&w, record + 4, sizeof(record) - 4);
	xdr_put_u32(&w, xid);
	xdr_put_u32(&w, RPC_REPLY);
	for (int i = 0; i < 3; i++)
		xdr_put_u32(&w, 0);
	xdr_put_u32(&w, RPC_PROG_UNAVAIL);
	record_mark_encode(record, 24);
	ck_assert_int_eq(send(fd, record, sizeof(record), MSG_NOSIGNAL), sizeof(record));
}

/* A client whose first Call is to @program, at a server that does not have it. */
static void ask_in_vain(uint32_t program)
{
	int client = fixture_connect(front), upstream;

	send_call_to(client, 1, program, 0);
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 1), FIXTURE_CALL_BYTES);
	send_prog_unavail(upstream, 1);
	ck_assert_uint_eq(read_stat(client, 1), RPC_PROG_UNAVAIL);
	close(client);
	close(upstream);
}

static const struct log_output counting = {.write = count_warning, .now_us = no_time};

static void count_warnings(void)
{
	atomic_store(&warnings, 0);
	log_set_output(&counting);
	log_set_level(LOG_LEVEL_WARNING);
}

START_TEST(the_first_client_of_mount_that_gets_nothing_is_warned_of)
{
	int client, upstream;

	count_warnings();
	start_near("connect");
	/* Others are not of MOUNT, or served. */
	ask_in_vain(UNKNOWN);
	open_to(server, NFS_PROGRAM_MOUNT, &client, &upstream);
	ck_assert_uint_eq(atomic_load(&warnings), 0);
	ask_in_vain(NFS_PROGRAM_MOUNT);
	ck_assert_uint_eq(atomic_load(&warnings), 1);
	ask_in_vain(NFS_PROGRAM_MOUNT);
	ck_assert_uint_eq(atomic_load(&warnings), 1);
	close(client);
	close(upstream);
	log_set_output(NULL);
}
END_TEST

START_TEST(the_first_client_of_nfs_that_gets_nothing_is_warned_of)
{
	count_warnings();
	start_near(_i ? at_mountd() : "connect");
	ask_in_vain(NFS_PROGRAM_NFS);
	ck_assert_uint_eq(atomic_load(&warnings), 1);
	ask_in_vain(NFS_PROGRAM_NFS);
	ck_assert_uint_eq(atomic_load(&warnings), 1);
	log_set_output(NULL);
}
END_TEST

/* There the administrator has decided where MOUNT goes. */
START_TEST(a_server_of_mount_that_has_none_is_not_warned_of)
{
	int client, upstream;

	count_warnings();
	start_near(at_mountd());
	client = fixture_connect(front);
	send_call_to(client, 1, NFS_PROGRAM_MOUNT, 0);
	upstream = fixture_accept(mountd, NULL);
	ck_assert_uint_eq(read_message(upstream, 1), FIXTURE_CALL_BYTES);
	send_prog_unavail(upstream, 1);
	ck_assert_uint_eq(read_stat(client, 1), RPC_PROG_UNAVAIL);
	ck_assert_uint_eq(atomic_load(&warnings), 0);
	close(client);
	close(upstream);
	log_set_output(NULL);
}
END_TEST

/* ---- what a check says ---- */

#define MNT3ERR_IO     5u
#define MNT3ERR_ACCES  13u
#define NFS4ERR_ACCESS 13u

static const uint32_t one_export[] = {true, 1, 0x2f000000 /* "/" */, false /* groups */, false};

/* Answers the next Call by a success whose results are these words. */
static void answer_with(int fd, const uint32_t *words, size_t count)
{
	uint8_t record[RECORD_MARK_BYTES + FIXTURE_REPLY_BYTES + sizeof(one_export)];
	struct xdr_writer w;
	uint32_t xid, len;

	read_any(fd, &xid);
	xdr_writer_init(&w, record + RECORD_MARK_BYTES, sizeof(record) - RECORD_MARK_BYTES);
	xdr_put_u32(&w, xid);
	xdr_put_u32(&w, RPC_REPLY);
	for (int i = 0; i < 4; i++)
		xdr_put_u32(&w, 0);
	for (size_t i = 0; i < count; i++)
		xdr_put_u32(&w, words[i]);
	len = (uint32_t)xdr_written_bytes(&w);
	record_mark_encode(record, len);
	ck_assert_int_eq(send(fd, record, RECORD_MARK_BYTES + len, MSG_NOSIGNAL),
			 RECORD_MARK_BYTES + len);
}

static void expect_step(const json_t *answer, const char *name, const char *text)
{
	const json_t *checked = json_array_get(json_object_get(answer, "servers"), 0), *step;
	const char *what = NULL;
	size_t i;

	json_array_foreach(json_object_get(checked, "steps"), i, step)
	{
		if (!strcmp(json_string_value(json_object_get(step, "step")), name))
			what = json_string_value(json_object_get(step, "what"));
	}
	ck_assert_msg(what && strstr(what, text), "%s: %s", name, what ? what : "nothing");
}

static const struct {
	uint32_t status;
	const char *text;
} mount_errors[] = {
	{MNT3ERR_ACCES, "it rejects this host (MNT3ERR_ACCES)"},
	{MNT3ERR_IO, "the first export cannot be mounted: MNT3ERR_IO"},
	{70, "the first export cannot be mounted: MNT3ERR_STALE"},
};

START_TEST(steps_of_a_check_have_the_names_of_errors)
{
	const uint32_t nfs_error[] = {NFS4ERR_ACCESS, 0 /* tag */, 0 /* operations */};
	int control, to_nfs, to_mount;
	json_t *answer;

	start_near(at_mountd());
	control = control_send("check one --mount\n");
	to_nfs = fixture_accept(server, NULL);
	answer_with(to_nfs, NULL, 0);
	to_mount = fixture_accept(mountd, NULL);
	answer_with(to_mount, one_export, ARRAY_SIZE(one_export));
	answer_with(to_mount, &mount_errors[_i].status, 1);
	answer_with(to_nfs, nfs_error, ARRAY_SIZE(nfs_error));
	close(to_nfs);
	answer = control_answer(control);
	expect_step(answer, "mount", mount_errors[_i].text);
	expect_step(answer, "inline_call", ", NFS4ERR_ACCESS");
	json_decref(answer);
	close(to_mount);
}
END_TEST

/* That the server is there does not help. */
START_TEST(without_mountd_its_clients_end)
{
	int client, nfs, to_nfs;

	close(mountd);
	mountd = -1;
	starts[_i](at_mountd());
	open_to(server, NFS_PROGRAM_NFS, &nfs, &to_nfs);
	client = fixture_connect(front);
	send_call_to(client, 1, NFS_PROGRAM_MOUNT, 0);
	read_end(client);
	close(client);
	pass(nfs, to_nfs, NFS_PROGRAM_NFS, 2, 0);
	close(nfs);
	close(to_nfs);
}
END_TEST

/* ---- rpcbind ---- */

static void start_rpcbind(void)
{
	rpcbind = fixture_listen(RPCBIND_AT);
}

/*
 * Its next question is for MOUNT, and answered with @address; NULL: never. Returns its connection.
 */
static int answer(const char *address)
{
	uint8_t in[256], out[128];
	struct xdr_writer w;
	ssize_t n;
	int fd = fixture_accept(rpcbind, NULL);

	n = recv(fd, in, sizeof(in), 0);
	ck_assert_int_ge(n, 4 + 44);
	ck_assert_uint_eq(be32_get(in + 4 + 12), NFS_PROGRAM_RPCBIND);
	ck_assert_uint_eq(be32_get(in + 4 + 40), NFS_PROGRAM_MOUNT);
	if (!address)
		return fd;
	xdr_writer_init(&w, out + 4, sizeof(out) - 4);
	xdr_put_u32(&w, be32_get(in + 4));
	for (int i = 0; i < 5; i++)
		xdr_put_u32(&w, i == 0);
	xdr_put_opaque(&w, (const uint8_t *)address, (uint32_t)strlen(address));
	record_mark_encode(out, (uint32_t)xdr_written_bytes(&w));
	/* In two parts, as TCP may have it. */
	ck_assert_int_eq(send(fd, out, 7, MSG_NOSIGNAL), 7);
	n = (ssize_t)xdr_written_bytes(&w) + 4 - 7;
	ck_assert_int_eq(send(fd, out + 7, (size_t)n, MSG_NOSIGNAL), n);
	return fd;
}

static const char *uaddr(uint16_t port)
{
	static char text[64];

	snprintf(text, sizeof(text), "0.0.0.0.%u.%u", port >> 8, port & 255u);
	return text;
}

/* A client for MOUNT, for which rpcbind is asked. */
static void open_asking(uint16_t port, int *client, int *upstream)
{
	*client = fixture_connect(front);
	send_call_to(*client, 1, NFS_PROGRAM_MOUNT, 0);
	close(answer(uaddr(port)));
	*upstream = fixture_accept(mountd, NULL);
	ck_assert_uint_eq(read_message(*upstream, 1), FIXTURE_CALL_BYTES);
}

START_TEST(rpcbind_says_where_mount_is_and_is_not_asked_again)
{
	int first, second, to_first, to_second;

	fixture_workers = 1;
	start_rpcbind();
	starts[_i]("rpcbind");
	open_asking(mount_port, &first, &to_first);
	open_to(mountd, NFS_PROGRAM_MOUNT, &second, &to_second);
	ck_assert(fixture_is_quiet(rpcbind, 0));
	close(first);
	close(second);
	close(to_first);
	close(to_second);
}
END_TEST

/* mountd is started again, and has another port. */
START_TEST(a_port_that_refuses_is_looked_up_again)
{
	int first, second, to_first, to_second;

	fixture_workers = 1;
	start_rpcbind();
	starts[_i]("rpcbind");
	open_asking(mount_port, &first, &to_first);
	close(mountd);
	mount_port = fixture_port();
	mountd = fixture_listen(mount_port);
	open_asking(mount_port, &second, &to_second);
	close(first);
	close(second);
	close(to_first);
	close(to_second);
}
END_TEST

/* How often a connection was closed for that, of all services. */
static json_int_t closed_for(const char *why)
{
	json_t *json = control_ask("stats\n"), *closes;
	json_int_t n;

	closes = json_object_get(
		json_object_get(json_object_get(json_object_get(json, "services"), "one"),
				"closes"),
		"server");
	n = json_integer_value(json_object_get(closes, why));
	json_decref(json);
	return n;
}

enum rpcbind_way { SILENT, ABSENT, HANGS_UP, UNREGISTERED, TALKS_NONSENSE, NAMES_US, WAYS };

static const char *play(enum rpcbind_way way)
{
	switch (way) {
	case HANGS_UP:
		close(fixture_accept(rpcbind, NULL));
		break;
	case UNREGISTERED:
		close(answer(""));
		break;
	case TALKS_NONSENSE:
		close(answer("nowhere"));
		break;
	case NAMES_US:
		close(answer(uaddr(front)));
		return "own_upstream";
	default:
		break;
	}
	return "no_mount";
}

START_TEST(without_a_word_of_rpcbind_its_clients_end_with_that_reason)
{
	const char *why;
	int client, held = -1;

	if (_i != ABSENT)
		start_rpcbind();
	start_near("rpcbind");
	client = fixture_connect(front);
	send_call_to(client, 1, NFS_PROGRAM_MOUNT, 0);
	if (_i == SILENT)
		held = answer(NULL);
	why = play((enum rpcbind_way)_i);
	read_end(client);
	ck_assert_int_eq(closed_for(why), 1);
	close(client);
	if (held >= 0)
		close(held);
	/* NFS does not need it. */
	open_to(server, NFS_PROGRAM_NFS, &client, &held);
	close(client);
	close(held);
}
END_TEST

static void await_connections(unsigned count)
{
	while (fixture_connections() != count)
		sched_yield();
}

/* One answer notifies all that wait meanwhile; it does not matter if one leaves. */
START_TEST(one_query_serves_all_waiting_connections)
{
	int clients[5], upstreams[5], fd;

	fixture_workers = 1;
	start_rpcbind();
	start_near("rpcbind");
	for (unsigned i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i] = fixture_connect(front);
		send_call_to(clients[i], 1, NFS_PROGRAM_MOUNT, 0);
	}
	await_connections(ARRAY_SIZE(clients));
	fixture_reset(clients[0]);
	await_connections(ARRAY_SIZE(clients) - 1);
	fd = answer(uaddr(mount_port));
	for (unsigned i = 1; i < ARRAY_SIZE(clients); i++) {
		upstreams[i] = fixture_accept(mountd, NULL);
		ck_assert_uint_eq(read_message(upstreams[i], 1), FIXTURE_CALL_BYTES);
	}
	/* A mountd that closed before it has answered would be asked by the proxy itself. */
	ck_assert(fixture_is_quiet(rpcbind, 0));
	for (unsigned i = 1; i < ARRAY_SIZE(clients); i++) {
		close(upstreams[i]);
		read_end(clients[i]);
		close(clients[i]);
	}
	close(fd);
}
END_TEST

/* ---- one that closes on a client's Call ---- */

/* What comes of the proxy's own NULL. */
enum null_end { NULL_SUCCEEDS, NULL_MISMATCHES, NULL_IS_DENIED, NULL_IS_CLOSED, NULL_IS_NO_RPC };
#define NULL_ENDS 5

static void end_null(int fd, uint32_t xid, enum null_end how)
{
	/*
	 * XID, REPLY; MSG_ACCEPTED with no verifier, and PROG_MISMATCH from 1 to 1; MSG_DENIED:
	 * AUTH_TOOWEAK.
	 */
	static const uint32_t mismatch[] = {1, 0, 0, 0, 2, 1, 1}, denied[] = {1, 1, 1, 5};
	const uint32_t *words = how == NULL_MISMATCHES ? mismatch : denied;
	size_t nwords = how == NULL_MISMATCHES ? ARRAY_SIZE(mismatch) : ARRAY_SIZE(denied);
	uint8_t out[64];
	struct xdr_writer w;
	size_t len;

	if (how == NULL_SUCCEEDS)
		send_reply(fd, xid, 0);
	if (how == NULL_IS_NO_RPC)
		ck_assert_int_eq(send(fd, "HTTP/1.1 400 Bad Request\r\n", 26, MSG_NOSIGNAL), 26);
	if (how != NULL_MISMATCHES && how != NULL_IS_DENIED)
		return;
	xdr_writer_init(&w, out + 4, sizeof(out) - 4);
	xdr_put_u32(&w, xid);
	for (size_t i = 0; i < nwords; i++)
		xdr_put_u32(&w, words[i]);
	len = xdr_written_bytes(&w);
	record_mark_encode(out, (uint32_t)len);
	ck_assert_int_eq(send(fd, out, len + 4, MSG_NOSIGNAL), (ssize_t)len + 4);
}

/* The next connection at @listener is the proxy's own, and asks NULL of @program. */
static void is_asked(int listener, uint32_t program, uint32_t version, enum null_end how)
{
	int fd = fixture_accept(listener, NULL);
	uint8_t in[256];

	ck_assert_int_ge(recv(fd, in, sizeof(in), 0), 4 + 40);
	ck_assert_uint_eq(be32_get(in + 4 + 12), program);
	ck_assert_uint_eq(be32_get(in + 4 + 16), version);
	ck_assert_uint_eq(be32_get(in + 4 + 20), 0);
	end_null(fd, be32_get(in + 4), how);
	close(fd);
}

/* Of the first of @list, as the control socket shows it. */
static json_t *target_of(json_t *json, const char *list)
{
	json_t *service = json_array_get(json_object_get(json, "services"), 0);

	return json_array_get(json_object_get(service, list), 0);
}

static void await_state(const char *list, const char *state, bool failed)
{
	bool is = false;

	while (!is) {
		json_t *json = control_ask("services\n"), *target = target_of(json, list);

		is = !strcmp(json_string_value(json_object_get(target, "state")), state);
		if (is)
			ck_assert_int_eq(json_integer_value(json_object_get(target, "failures")),
					 failed);
		json_decref(json);
		sched_yield();
	}
}

/* A client whose Call mountd closes for; @asked: rpcbind is asked where that is. */
static void be_closed_on(bool asked)
{
	int client, upstream;

	if (asked) {
		open_asking(mount_port, &client, &upstream);
	} else {
		client = fixture_connect(front);
		send_call_to(client, 1, NFS_PROGRAM_MOUNT, 0);
		upstream = fixture_accept(mountd, NULL);
		ck_assert_uint_eq(read_message(upstream, 1), FIXTURE_CALL_BYTES);
	}
	close(upstream);
	read_end(client);
	close(client);
}

START_TEST(a_mountd_that_closes_on_a_call_is_asked_where_it_is)
{
	enum null_end how = (enum null_end)(_i / 2);
	bool by_rpcbind = _i % 2, answers = how <= NULL_IS_DENIED;
	int client, upstream;

	fixture_workers = 1;
	if (by_rpcbind)
		start_rpcbind();
	start_near(by_rpcbind ? "rpcbind" : at_mountd());
	be_closed_on(by_rpcbind);
	if (by_rpcbind)
		close(answer(uaddr(mount_port)));
	is_asked(mountd, NFS_PROGRAM_MOUNT, 3, how);
	await_state("mount_targets", answers ? "ok" : "down", !answers);
	await_state("targets", "unknown", false);
	/* Another one is served, all the same: there is no other server. */
	open_to(mountd, NFS_PROGRAM_MOUNT, &client, &upstream);
	await_state("mount_targets", "ok", !answers);
	close(client);
	close(upstream);
}
END_TEST

/* Where it goes to the server of NFS, it is that which is asked. */
START_TEST(with_connect_the_server_is_asked_as_any)
{
	int client, upstream;

	start_near("connect");
	client = fixture_connect(front);
	send_call_to(client, 1, NFS_PROGRAM_MOUNT, 0);
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 1), FIXTURE_CALL_BYTES);
	close(upstream);
	read_end(client);
	close(client);
	is_asked(server, NFS_PROGRAM_NFS, 4, _i ? NULL_IS_CLOSED : NULL_SUCCEEDS);
	await_state("targets", _i ? "down" : "ok", _i);
}
END_TEST

/* What rpcbind says to the proxy then counts as what it says to a client. */
START_TEST(a_mountd_that_rpcbind_does_not_know_any_more_is_down)
{
	fixture_workers = 1;
	start_rpcbind();
	start_near("rpcbind");
	be_closed_on(true);
	close(answer(""));
	await_state("mount_targets", "down", true);
}
END_TEST

/* The proxy ends while it waits for that. */
START_TEST(a_query_to_rpcbind_can_be_cancelled)
{
	fixture_workers = 1;
	start_rpcbind();
	start_near("rpcbind");
	be_closed_on(true);
	silent = answer(NULL);
	await_state("mount_targets", "unknown", false);
}
END_TEST

START_TEST(the_control_socket_tells_where_mount_is)
{
	json_t *json, *service, *target;
	int client, upstream;

	start_near(at_mountd());
	open_to(mountd, NFS_PROGRAM_MOUNT, &client, &upstream);
	json = control_ask("services\n");
	service = json_array_get(json_object_get(json, "services"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(service, "mount")), at_mountd());
	target = json_array_get(json_object_get(service, "mount_targets"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(target, "connect")), at_mountd());
	ck_assert_str_eq(json_string_value(json_object_get(target, "state")), "ok");
	ck_assert_int_eq(json_integer_value(json_object_get(target, "connections")), 1);
	json_decref(json);
	close(client);
	close(upstream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mount");
	TCase *tc = tcase_create("mount");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, calls_go_by_their_program, 0, STARTS);
	tcase_add_loop_test(tc, calls_that_go_elsewhere_get_prog_unavail, 0, STARTS);
	tcase_add_loop_test(tc, a_first_call_to_an_unknown_program_connects_to_the_server, 0,
			    STARTS);
	tcase_add_loop_test(tc, with_connect_all_calls_go_there, 0, 2);
	tcase_add_test(tc, the_first_client_of_mount_that_gets_nothing_is_warned_of);
	tcase_add_loop_test(tc, the_first_client_of_nfs_that_gets_nothing_is_warned_of, 0, 2);
	tcase_add_test(tc, a_server_of_mount_that_has_none_is_not_warned_of);
	tcase_add_loop_test(tc, steps_of_a_check_have_the_names_of_errors, 0,
			    ARRAY_SIZE(mount_errors));
	tcase_add_loop_test(tc, without_mountd_its_clients_end, 0, STARTS);
	tcase_add_loop_test(tc, rpcbind_says_where_mount_is_and_is_not_asked_again, 0, STARTS);
	tcase_add_loop_test(tc, a_port_that_refuses_is_looked_up_again, 0, STARTS);
	tcase_add_loop_test(tc, without_a_word_of_rpcbind_its_clients_end_with_that_reason, 0,
			    WAYS);
	tcase_add_test(tc, one_query_serves_all_waiting_connections);
	tcase_add_loop_test(tc, a_mountd_that_closes_on_a_call_is_asked_where_it_is, 0,
			    2 * NULL_ENDS);
	tcase_add_loop_test(tc, with_connect_the_server_is_asked_as_any, 0, 2);
	tcase_add_test(tc, a_mountd_that_rpcbind_does_not_know_any_more_is_down);
	tcase_add_test(tc, a_query_to_rpcbind_can_be_cancelled);
	tcase_add_test(tc, the_control_socket_tells_where_mount_is);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
