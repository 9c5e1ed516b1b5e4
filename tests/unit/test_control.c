// SPDX-License-Identifier: BSD-3-Clause
/* Tests the control socket: requests, answers, permissions, and misbehaving clients. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/control/control.h"
#include "daemon/control/control_request.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static char dir[] = "/tmp/test-control-XXXXXX";
static char path[64];
static struct loop *loop;
static struct control *control;
static char error[256];
static unsigned stops;
static bool stopped_now;

/* What was asked for last, and its done() for tests that answer late. */
static enum control_command_id asked;
static char asked_of[CONTROL_MAX_ARGUMENT_BYTES + 1];
static bool answer_late;
static void (*late_done)(void *arg, json_t *result);
static void *late_arg;
static json_t *answer;

static void run(void *arg, enum control_command_id command, const char *argument, const char *who,
		void (*done)(void *, json_t *), void *done_arg)
{
	asked = command;
	snprintf(asked_of, sizeof(asked_of), "%s", argument);
	if (answer_late) {
		late_done = done;
		late_arg = done_arg;
	} else {
		done(done_arg, answer);
		answer = NULL;
	}
}

static void stop(void *arg, bool now)
{
	stops++;
	stopped_now = now;
}

static const struct control_ops ops = {.run = run, .stop = stop};

static int open_control(void)
{
	return control_open(loop, path, &ops, NULL, error, sizeof(error), &control);
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	loop = fake_loop_new();
	answer_late = false;
	answer = json_pack("{s:i}", "answer", 42);
	late_done = NULL;
	stops = 0;
	ck_assert_int_eq(open_control(), 0);
}

static void teardown(void)
{
	control_close(control);
	control = NULL;
	json_decref(answer);
	fake_loop_free(loop);
	ck_assert_int_ne(access(path, F_OK), 0);
	rmdir(dir);
}

static int client_open(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void client_say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	fake_loop_run(loop);
}

/* What came back, up to the end of the stream; "open" if the end has not come. */
static const char *client_hear(int fd)
{
	static char text[4096];
	size_t len = 0;
	ssize_t n;

	fake_loop_run(loop);
	while ((n = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return n < 0 && errno == EAGAIN && !len ? "open" : text;
}

static const char *ask(const char *text)
{
	int fd = client_open();
	const char *heard;

	client_say(fd, text);
	heard = client_hear(fd);
	close(fd);
	return heard;
}

START_TEST(a_word_gets_its_answer_as_json)
{
	ck_assert_str_eq(ask("connections\n"), "{\"schema\":1,\"answer\":42}\n");
	ck_assert_int_eq(asked, CONTROL_COMMAND_CONNECTIONS);
}
END_TEST

START_TEST(each_question_reaches_its_query)
{
	static const struct {
		const char *request;
		enum control_command_id command;
	} words[] = {
		{"status\n", CONTROL_COMMAND_STATUS},
		{"services\r\n", CONTROL_COMMAND_SERVICES},
		{" connections \n", CONTROL_COMMAND_CONNECTIONS},
		{"latency\n", CONTROL_COMMAND_LATENCY},
		{"{\"command\": \"stats\"}\n", CONTROL_COMMAND_STATS},
		{"counters\n", CONTROL_COMMAND_COUNTERS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		json_decref(answer);
		answer = json_object();
		ck_assert_str_eq(ask(words[i].request), "{\"schema\":1}\n");
		ck_assert_int_eq(asked, words[i].command);
	}
}
END_TEST

START_TEST(stats_may_name_a_service)
{
	ask("stats\n");
	ck_assert_str_eq(asked_of, "");
	answer = json_object();
	ck_assert_str_eq(ask("stats files\n"), "{\"schema\":1}\n");
	ck_assert_int_eq(asked, CONTROL_COMMAND_STATS);
	ck_assert_str_eq(asked_of, "files");
	answer = json_object();
	ask("{\"command\": \"stats\", \"argument\": \"more files\"}\n");
	ck_assert_str_eq(asked_of, "more files");
}
END_TEST

START_TEST(an_answer_that_several_have_is_left_as_it_is)
{
	json_t *shared = json_incref(answer);

	ask("status\n");
	ck_assert_ptr_null(json_object_get(shared, "schema"));
	json_decref(shared);
}
END_TEST

START_TEST(a_client_that_cannot_be_watched_is_dropped)
{
	int fd;

	fd = client_open();
	fake_loop_blind(loop, true);
	client_say(fd, "");
	ck_assert_str_eq(client_hear(fd), "");
	close(fd);
	/* Nor can the socket itself be, for a while: it is tried again. */
	fd = client_open();
	fake_loop_blind(loop, false);
	fake_loop_advance(loop, 2 * CONTROL_TIMEOUT_US);
	close(fd);
	ck_assert_str_eq(ask("connections\n"), "{\"schema\":1,\"answer\":42}\n");
}
END_TEST

START_TEST(a_request_may_come_in_pieces)
{
	int fd = client_open();

	client_say(fd, "sta");
	ck_assert_str_eq(client_hear(fd), "open");
	client_say(fd, "tus");
	client_say(fd, "\n");
	ck_assert_str_eq(client_hear(fd), "{\"schema\":1,\"answer\":42}\n");
	close(fd);
}
END_TEST

START_TEST(the_end_of_the_stream_ends_a_request)
{
	int fd = client_open();

	client_say(fd, "status");
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(client_hear(fd), "{\"schema\":1,\"answer\":42}\n");
	close(fd);
}
END_TEST

#define A10  "aaaaaaaaaa"
#define A100 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10

static const struct {
	const char *request, *why;
} refused[] = {
	{"\n", "the request is empty"},
	{"reboot\n", "unknown command"},
	{"stats \xff\n", "the request is not UTF-8"},
	{"reload now\n", "the command takes no argument"},
	{"disconnect\n", "the command needs an argument"},
	{"stop later\n", "stop takes --now, or nothing"},
	{"status now\n", "the command takes no argument"},
	{"log\n", "the command needs an argument"},
	{"log debug now\n", "the request has more words than the command takes"},
	{"log chatty\n", "the level is error, warning, info or debug"},
	{"log " A100 A100 A100 A100 "a\n", "the argument is too long"},
	{"target files tcp://filer\n", "the command needs more arguments"},
	{"target files tcp://filer up now\n", "the request has more words than the command takes"},
	{"{\n", "the request is no JSON object"},
	{"{} x\n", "the request is no JSON object"},
	{"{}\n", "the request has no command"},
	{"{\"command\": 5}\n", "the request has a value that is no string"},
	{"{\"command\": \"status\", \"x\": \"y\"}\n", "the request has an unknown member"},
	{"{\"command\": \"status\", \"command\": \"stop\"}\n", "the request is no JSON object"},
	{"{\"command\": \"log\"}\n", "the command needs an argument"},
};

START_TEST(a_bad_request_gets_the_reason)
{
	char expected[200];

	snprintf(expected, sizeof(expected), "{\"schema\":1,\"error\":\"%s\"}\n", refused[_i].why);
	ck_assert_str_eq(ask(refused[_i].request), expected);
}
END_TEST

START_TEST(a_request_over_its_limit_is_refused)
{
	char text[CONTROL_MAX_REQUEST_BYTES + 2];
	int fd = client_open();

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	client_say(fd, text);
	ck_assert_str_eq(client_hear(fd), "{\"schema\":1,\"error\":\"the request is too long\"}\n");
	close(fd);
	/* One byte less is read as a request. */
	text[sizeof(text) - 2] = '\n';
	ck_assert_str_eq(ask(text), "{\"schema\":1,\"error\":\"unknown command\"}\n");
}
END_TEST

START_TEST(log_changes_the_level)
{
	ck_assert_str_eq(ask("log error\n"), "{\"schema\":1,\"level\":\"error\"}\n");
	ck_assert_int_eq(log_level(), LOG_LEVEL_ERROR);
	ck_assert_str_eq(ask("{\"command\":\"log\",\"argument\":\"info\"}"), "open");
	ck_assert_str_eq(ask("{\"command\":\"log\",\"argument\":\"info\"}\n"),
			 "{\"schema\":1,\"level\":\"info\"}\n");
	ck_assert_int_eq(log_level(), LOG_LEVEL_INFO);
}
END_TEST

START_TEST(stop_is_answered_before_it_stops)
{
	ck_assert_str_eq(ask("stop\n"), "{\"schema\":1,\"stopping\":true}\n");
	ck_assert_uint_eq(stops, 1);
}
END_TEST

static char said[1024];

static bool collect(void *arg, const char *line, size_t len)
{
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	return true;
}

static uint64_t any_time(clockid_t clock)
{
	return 0;
}

START_TEST(the_user_of_a_change_is_logged)
{
	static const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = any_time};
	char want[512];
	unsigned uid = geteuid();

	log_set_level(LOG_LEVEL_INFO);
	log_set_output(&output);
	said[0] = '\0';
	ask("log debug\n");
	ask("log warning\n");
	/* Seen by those who see what they are about to see. */
	ask("log error\n");
	ask("log info\n");
	ask("stop\n");
	log_set_output(NULL);
	snprintf(want, sizeof(want),
		 "<6>log level is now debug (was info), requested by uid %u\n"
		 "<6>log level is now warning (was debug), requested by uid %u\n"
		 "<6>log level is now info (was error), requested by uid %u\n"
		 "<6>stop requested by uid %u via control socket\n",
		 uid, uid, uid, uid);
	ck_assert_str_eq(said, want);
}
END_TEST

START_TEST(changing_something_takes_root_or_the_daemons_user)
{
	int fd;

	if (geteuid() != 0)
		return; /* another user cannot be had */
	chmod(dir, 0755);
	chmod(path, 0666);
	ck_assert_int_eq(seteuid(65534), 0);
	fd = client_open();
	ck_assert_int_eq(seteuid(0), 0);
	client_say(fd, "stop\n");
	ck_assert_str_eq(
		client_hear(fd),
		"{\"schema\":1,\"error\":\"only root and the daemon's own user may do that\"}\n");
	close(fd);
	ck_assert_uint_eq(stops, 0);
}
END_TEST

START_TEST(the_socket_is_for_owner_and_group)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0660);
}
END_TEST

START_TEST(a_client_that_does_not_finish_its_request_is_dropped)
{
	int fd = client_open();

	client_say(fd, "stat");
	fake_loop_advance(loop, CONTROL_TIMEOUT_US - 1);
	ck_assert_str_eq(client_hear(fd), "open");
	fake_loop_advance(loop, 1);
	ck_assert_str_eq(client_hear(fd), "");
	close(fd);
}
END_TEST

START_TEST(a_client_that_does_not_take_its_answer_is_dropped)
{
	size_t len = 4u << 20, heard = 0;
	char *big = calloc(1, len + 1), *buf = malloc(len);
	int fd = client_open();
	ssize_t n;

	memset(big, 'x', len);
	json_decref(answer);
	answer = json_pack("{s:s}", "big", big);
	client_say(fd, "status\n");
	fake_loop_advance(loop, CONTROL_TIMEOUT_US);
	while ((n = recv(fd, buf, len, 0)) > 0)
		heard += (size_t)n;
	ck_assert_int_eq(n, 0);
	ck_assert_uint_gt(heard, 0);
	ck_assert_uint_lt(heard, len);
	close(fd);
	free(big);
	free(buf);
}
END_TEST

START_TEST(a_slow_reader_gets_all_of_its_answer)
{
	size_t len = 4u << 20, heard = 0;
	char *big = calloc(1, len + 1), *buf = malloc(65536);
	int fd = client_open();
	ssize_t n;

	memset(big, 'x', len);
	json_decref(answer);
	answer = json_pack("{s:s}", "big", big);
	client_say(fd, "status\n");
	while ((n = recv(fd, buf, 65536, 0)) > 0) {
		heard += (size_t)n;
		fake_loop_run(loop);
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(heard, len + strlen("{\"schema\":1,\"big\":\"\"}\n"));
	close(fd);
	free(big);
	free(buf);
}
END_TEST

START_TEST(clients_are_bounded_in_number)
{
	int fds[CONTROL_MAX_CLIENTS + 1];

	for (unsigned i = 0; i <= CONTROL_MAX_CLIENTS; i++) {
		fds[i] = client_open();
		client_say(fds[i], i < CONTROL_MAX_CLIENTS ? "sta" : "log info\n");
	}
	ck_assert_str_eq(client_hear(fds[CONTROL_MAX_CLIENTS]), "open");
	close(fds[0]);
	ck_assert_str_eq(client_hear(fds[CONTROL_MAX_CLIENTS]),
			 "{\"schema\":1,\"level\":\"info\"}\n");
	for (unsigned i = 1; i <= CONTROL_MAX_CLIENTS; i++)
		close(fds[i]);
	fake_loop_run(loop);
}
END_TEST

static int client_open_as(uid_t uid)
{
	int fd;

	ck_assert_int_eq(seteuid(uid), 0);
	fd = client_open();
	ck_assert_int_eq(seteuid(0), 0);
	fake_loop_run(loop);
	return fd;
}

#define USER_MANY                                                                                  \
	"{\"schema\":1,\"error\":\"your user has too many clients on the control socket: try again\"}\n"
#define ALL_MANY                                                                                   \
	"{\"schema\":1,\"error\":\"there are too many clients on the control socket: try again\"}\n"

/* Silent ones, as many as get in. */
START_TEST(read_only_users_leave_slots_for_root)
{
	const unsigned others = CONTROL_MAX_CLIENTS - CONTROL_RESERVED_CLIENTS;
	int fds[2 * CONTROL_MAX_CLIENTS];
	unsigned n = 0;

	if (geteuid() != 0)
		return; /* another user cannot be had */
	chmod(dir, 0755);
	chmod(path, 0666);
	while (n < CONTROL_MAX_USER_CLIENTS)
		fds[n++] = client_open_as(65534);
	fds[n] = client_open_as(65534);
	ck_assert_str_eq(client_hear(fds[n]), USER_MANY);
	close(fds[n]);
	while (n < others)
		fds[n++] = client_open_as(65533);
	fds[n] = client_open_as(65533);
	ck_assert_str_eq(client_hear(fds[n]), ALL_MANY);
	close(fds[n]);
	for (unsigned i = 0; i < CONTROL_RESERVED_CLIENTS; i++)
		ck_assert_str_eq(ask("log info\n"), "{\"schema\":1,\"level\":\"info\"}\n");
	/* One that has gone gives its place to another one. */
	close(fds[0]);
	fake_loop_run(loop);
	fds[0] = client_open_as(65534);
	ck_assert_str_eq(client_hear(fds[0]), "open");
	while (n)
		close(fds[--n]);
	fake_loop_run(loop);
}
END_TEST

/* Root does not wait behind those in the kernel's queue who get no place. */
START_TEST(a_rejected_control_client_delays_no_other)
{
	int fds[48], root;

	if (geteuid() != 0)
		return;
	chmod(dir, 0755);
	chmod(path, 0666);
	ck_assert_int_eq(seteuid(65534), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = client_open();
	ck_assert_int_eq(seteuid(0), 0);
	root = client_open();
	client_say(root, "log info\n");
	ck_assert_str_eq(client_hear(root), "{\"schema\":1,\"level\":\"info\"}\n");
	close(root);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	fake_loop_run(loop);
}
END_TEST

START_TEST(commands_that_change_something_can_be_answered_late)
{
	int fd = client_open();

	answer_late = true;
	client_say(fd, "reload\n");
	ck_assert_int_eq(asked, CONTROL_COMMAND_RELOAD);
	fake_loop_advance(loop, CONTROL_TIMEOUT_US * 2);
	ck_assert_str_eq(client_hear(fd), "open");
	late_done(late_arg, json_pack("{s:i}", "late", 1));
	ck_assert_str_eq(client_hear(fd), "{\"schema\":1,\"late\":1}\n");
	close(fd);
}
END_TEST

START_TEST(an_answer_may_come_late)
{
	int fd = client_open();

	answer_late = true;
	client_say(fd, "stats\n");
	ck_assert_str_eq(client_hear(fd), "open");
	late_done(late_arg, json_pack("{s:i}", "late", 1));
	ck_assert_str_eq(client_hear(fd), "{\"schema\":1,\"late\":1}\n");
	close(fd);
}
END_TEST

START_TEST(an_answer_that_cannot_be_had_is_an_error)
{
	int fd = client_open();

	answer_late = true;
	client_say(fd, "stats\n");
	late_done(late_arg, NULL);
	ck_assert_str_eq(client_hear(fd),
			 "{\"schema\":1,\"error\":\"the daemon has no memory for the answer\"}\n");
	close(fd);
}
END_TEST

START_TEST(an_answer_that_does_not_come_is_an_error)
{
	int fd = client_open();

	answer_late = true;
	client_say(fd, "stats\n");
	fake_loop_advance(loop, CONTROL_TIMEOUT_US);
	ck_assert_str_eq(client_hear(fd),
			 "{\"schema\":1,\"error\":\"the daemon did not answer in time\"}\n");
	close(fd);
	late_done(late_arg, json_object());
}
END_TEST

START_TEST(an_answer_after_the_end_is_thrown_away)
{
	int fd = client_open();

	answer_late = true;
	client_say(fd, "stats\n");
	control_close(control);
	control = NULL;
	late_done(late_arg, json_object());
	close(fd);
}
END_TEST

START_TEST(a_live_socket_is_an_error_and_stays)
{
	struct control *first = control;

	ck_assert_int_eq(open_control(), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(error, "already running"));
	control = first;
	ck_assert_str_eq(ask("status\n"), "{\"schema\":1,\"answer\":42}\n");
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	control_close(control);
	control = NULL;
	strcpy(addr.sun_path, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	ck_assert_int_eq(open_control(), 0);
	ck_assert_str_eq(ask("status\n"), "{\"schema\":1,\"answer\":42}\n");
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_not_removed)
{
	int fd;

	control_close(control);
	control = NULL;
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	ck_assert_int_eq(open_control(), -EEXIST);
	ck_assert_ptr_nonnull(strstr(error, "is not a socket"));
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(path);
}
END_TEST

START_TEST(a_missing_directory_is_a_clear_error)
{
	struct control *none;

	ck_assert_int_eq(control_open(loop, "/tmp/test-control-missing/sock", &ops, NULL, error,
				      sizeof(error), &none),
			 -ENOENT);
	ck_assert_str_eq(error,
			 "cannot bind /tmp/test-control-missing/sock: the directory does not exist "
			 "(the unit makes it): create it or set control");
}
END_TEST

START_TEST(a_file_in_the_place_of_the_directory_is_a_clear_error)
{
	struct control *none;
	char under[80];
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	snprintf(under, sizeof(under), "%s/sock", path);
	ck_assert_int_eq(control_open(loop, under, &ops, NULL, error, sizeof(error), &none),
			 -ENOTDIR);
	ck_assert_ptr_nonnull(
		strstr(error, "Not a directory: set control to a path in a directory"));
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control");
	TCase *tc = tcase_create("control");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_word_gets_its_answer_as_json);
	tcase_add_test(tc, each_question_reaches_its_query);
	tcase_add_test(tc, stats_may_name_a_service);
	tcase_add_test(tc, an_answer_that_several_have_is_left_as_it_is);
	tcase_add_test(tc, a_client_that_cannot_be_watched_is_dropped);
	tcase_add_test(tc, a_request_may_come_in_pieces);
	tcase_add_test(tc, the_end_of_the_stream_ends_a_request);
	tcase_add_loop_test(tc, a_bad_request_gets_the_reason, 0, ARRAY_SIZE(refused));
	tcase_add_test(tc, a_request_over_its_limit_is_refused);
	tcase_add_test(tc, log_changes_the_level);
	tcase_add_test(tc, stop_is_answered_before_it_stops);
	tcase_add_test(tc, the_user_of_a_change_is_logged);
	tcase_add_test(tc, changing_something_takes_root_or_the_daemons_user);
	tcase_add_test(tc, the_socket_is_for_owner_and_group);
	tcase_add_test(tc, a_client_that_does_not_finish_its_request_is_dropped);
	tcase_add_test(tc, a_client_that_does_not_take_its_answer_is_dropped);
	tcase_add_test(tc, a_slow_reader_gets_all_of_its_answer);
	tcase_add_test(tc, read_only_users_leave_slots_for_root);
	tcase_add_test(tc, a_rejected_control_client_delays_no_other);
	tcase_add_test(tc, commands_that_change_something_can_be_answered_late);
	tcase_add_test(tc, clients_are_bounded_in_number);
	tcase_add_test(tc, an_answer_may_come_late);
	tcase_add_test(tc, an_answer_that_cannot_be_had_is_an_error);
	tcase_add_test(tc, an_answer_that_does_not_come_is_an_error);
	tcase_add_test(tc, an_answer_after_the_end_is_thrown_away);
	tcase_add_test(tc, a_live_socket_is_an_error_and_stays);
	tcase_add_test(tc, a_stale_socket_is_replaced);
	tcase_add_test(tc, a_file_that_is_no_socket_is_not_removed);
	tcase_add_test(tc, a_missing_directory_is_a_clear_error);
	tcase_add_test(tc, a_file_in_the_place_of_the_directory_is_a_clear_error);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
