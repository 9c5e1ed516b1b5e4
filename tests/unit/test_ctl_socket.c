// SPDX-License-Identifier: BSD-3-Clause
/* Tests how the control client finds the daemon's socket, and requests over it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/control/control.h"
#include "daemon/ctl/client.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

START_TEST(a_daemon_that_is_not_there_is_named)
{
	char error[256];
	json_t *answer;

	ck_assert_int_eq(client_request("/tmp/test-ctl-missing", "status", NULL, error,
					sizeof(error), &answer),
			 -ENOENT);
	ck_assert_str_eq(
		error,
		"cannot reach the daemon (/tmp/test-ctl-missing: No such file or directory): is it running? systemctl status rpcrdma-proxy");
}
END_TEST

START_TEST(a_socket_without_permission_is_reported_with_its_group)
{
	static const struct control_ops ops = {0};
	char dir[] = "/tmp/test-ctl-XXXXXX", path[64], error[256];
	struct loop *loop = fake_loop_new();
	struct control *control;
	json_t *answer = NULL;

	if (geteuid() != 0)
		return; /* who is refused must be another user */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	ck_assert_int_eq(control_open(loop, path, &ops, NULL, error, sizeof(error), &control), 0);
	chmod(dir, 0755);
	ck_assert_int_eq(chown(path, 0, 4294967), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(client_request(path, "status", NULL, error, sizeof(error), &answer),
			 -EACCES);
	ck_assert_ptr_nonnull(strstr(error, "/sock: it is for root and the group 4294967"));
	/* What is in a directory that may not be looked into has the group that is installed. */
	ck_assert_int_eq(seteuid(0), 0);
	chmod(dir, 0700);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(client_request(path, "status", NULL, error, sizeof(error), &answer),
			 -EACCES);
	ck_assert_ptr_nonnull(strstr(error, "/sock: it is for root and the group rpcrdma-proxy"));
	ck_assert_int_eq(seteuid(0), 0);
	control_close(control);
	fake_loop_free(loop);
	rmdir(dir);
}
END_TEST

/* ---- the socket of a configuration file ---- */

static const struct {
	const char *text;
	int rc;
	const char *path, *error; /* the end of it */
} files[] = {
	{"control = \"/tmp/other.sock\";\nservices = ( { name = \"x\"; } );\n", 0,
	 "/tmp/other.sock", NULL},
	{"services = ();\n", 0, "/run/rpcrdma-proxy/control.sock", NULL},
	{"", 0, "/run/rpcrdma-proxy/control.sock", NULL},
	{"services = (\n{\n", -EINVAL, NULL, ":3: syntax error: the \"{\" of line 2 is not closed"},
	/* libconfig would end the process. */
	{"@include \".\"\n", -EINVAL, NULL, "not a file"},
};

START_TEST(the_socket_is_read_from_the_file)
{
	char name[] = "/tmp/test-ctl-XXXXXX", error[256] = "";
	int fd = mkstemp(name), rc;
	char *path = NULL;

	ck_assert_int_eq(write(fd, files[_i].text, strlen(files[_i].text)),
			 (ssize_t)strlen(files[_i].text));
	close(fd);
	rc = control_path(name, error, sizeof(error), &path);
	unlink(name);
	ck_assert_int_eq(rc, files[_i].rc);
	if (files[_i].path)
		ck_assert_str_eq(path, files[_i].path);
	if (files[_i].error)
		ck_assert_ptr_nonnull(strstr(error, files[_i].error));
	free(path);
}
END_TEST

START_TEST(an_unreadable_file_is_reported)
{
	char error[256], *path;

	ck_assert_int_eq(control_path("/tmp/test-ctl-none", error, sizeof(error), &path), -ENOENT);
	ck_assert_str_eq(error, "/tmp/test-ctl-none: No such file or directory");
	ck_assert_int_eq(control_path("/tmp", error, sizeof(error), &path), -EISDIR);
	ck_assert_str_eq(error, "/tmp: Is a directory");
}
END_TEST

static void run(void *arg, enum control_command_id command, const char *argument, const char *who,
		void (*done)(void *, json_t *), void *done_arg)
{
	done(done_arg, json_pack("{s:i}", "asked", command));
}

/* The client. Returns whether the daemon gets its command and argument, and refuses the second. */
static bool can_ask(const char *path)
{
	json_t *answer = NULL, *refusal = NULL;
	char error[256];
	bool can;

	can = !client_request(path, "stats", NULL, error, sizeof(error), &answer) &&
	      json_integer_value(json_object_get(answer, "asked")) == CONTROL_COMMAND_STATS &&
	      !client_request(path, "log", "cha\"t\n", error, sizeof(error), &refusal) &&
	      json_object_get(refusal, "error");
	json_decref(answer);
	json_decref(refusal);
	return can;
}

START_TEST(client_and_daemon_understand_each_other)
{
	static const struct control_ops ops = {.run = run};
	char dir[] = "/tmp/test-ctl-XXXXXX", path[64], error[256];
	struct loop *loop = fake_loop_new();
	struct control *control;
	int status = 0;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	ck_assert_int_eq(control_open(loop, path, &ops, NULL, error, sizeof(error), &control), 0);
	pid = fork();
	if (pid == 0)
		_exit(!can_ask(path));
	while (waitpid(pid, &status, WNOHANG) == 0)
		fake_loop_run(loop);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	control_close(control);
	fake_loop_free(loop);
	rmdir(dir);
}
END_TEST
int main(void)
{
	Suite *suite = suite_create("ctl_socket");
	TCase *tc = tcase_create("ctl_socket");

	tcase_add_test(tc, a_daemon_that_is_not_there_is_named);
	tcase_add_test(tc, a_socket_without_permission_is_reported_with_its_group);
	tcase_add_loop_test(tc, the_socket_is_read_from_the_file, 0, ARRAY_SIZE(files));
	tcase_add_test(tc, an_unreadable_file_is_reported);
	tcase_add_test(tc, client_and_daemon_understand_each_other);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
