// SPDX-License-Identifier: BSD-3-Clause
/*
 * support: writes a support bundle with the daemon's answers, its file and log, and facts about the
 * host. The members are written to a private directory next to the archive; tar(1) packs them.
 */
#include "daemon/ctl/local_commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/clock.h"
#include "daemon/base/paths.h"
#include "daemon/control/control_request.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/redact.h"

#define RUN_PROGRAM_MAX_WORDS 12u

#define NOT_FOUND             127

static int64_t now_ms(void)
{
	return (int64_t)(clock_us(CLOCK_MONOTONIC) / 1000);
}

static void exec_program(const char *const *words, int out)
{
	char *copy[RUN_PROGRAM_MAX_WORDS + 1] = {NULL};
	int in = open("/dev/null", O_RDONLY);

	for (unsigned i = 0; i < RUN_PROGRAM_MAX_WORDS && words[i]; i++)
		copy[i] = (char *)words[i];
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(NOT_FOUND);
	execvp(copy[0], copy);
	_exit(NOT_FOUND);
}

/*
 * Copies output to @out. Returns why the program must be stopped, or NULL at the end of its output.
 */
static const char *copy_output(int from, unsigned timeout_s, size_t max_bytes, FILE *out)
{
	struct pollfd pollfd = {.fd = from, .events = POLLIN};
	int64_t end_ms = now_ms() + (int64_t)timeout_s * 1000, left_ms;
	char buffer[4096];
	ssize_t n;

	while (max_bytes) {
		left_ms = end_ms - now_ms();
		if (left_ms <= 0)
			return "was stopped after its time limit";
		if (poll(&pollfd, 1, (int)left_ms) <= 0)
			continue;
		n = read(from, buffer, sizeof(buffer) < max_bytes ? sizeof(buffer) : max_bytes);
		if (n <= 0)
			return NULL;
		fwrite(buffer, 1, (size_t)n, out);
		max_bytes -= (size_t)n;
	}
	return "was stopped: too much output";
}

static void print_status(const char *name, int status, FILE *out)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		fprintf(out, "[%s cannot be run]\n", name);
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(out, "[%s ended with status %d]\n", name, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		fprintf(out, "[%s was killed by signal %d]\n", name, WTERMSIG(status));
}

/*
 * run_program - Runs a program without a shell and copies its standard output and error.
 * @words:     its name and arguments, NULL-terminated; found as by execvp()
 * @timeout_s: time limit; then the program is killed
 * @max_bytes: limit of the copied output; then the program is killed
 * @out:       also gets a line in brackets if the program cannot be run or fails
 */
static void run_program(const char *const *words, unsigned timeout_s, size_t max_bytes, FILE *out)
{
	const char *broken_off;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(out, "[%s: %s]\n", words[0], strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		exec_program(words, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		fprintf(out, "[%s: %s]\n", words[0], strerror(errno));
		close(ends[0]);
		return;
	}
	setpgid(pid, pid); /* in both processes: either can run first */
	broken_off = copy_output(ends[0], timeout_s, max_bytes, out);
	close(ends[0]);
	if (broken_off) {
		kill(-pid, SIGKILL);
		fprintf(out, "\n[%s %s]\n", words[0], broken_off);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!broken_off)
		print_status(words[0], status, out);
}

/* The default name of the archive. */
#define SUPPORT_NAME_BYTES 64u

#define UNIT               "rpcrdma-proxy"
#define RUN_TIMEOUT_S      5u
#define MAX_BYTES          (16u << 20) /* per member */
#define PATH_BYTES         4096u

struct support {
	char work[PATH_BYTES]; /* temporary directory, removed at the end */
	char folder
		[SUPPORT_NAME_BYTES]; /* directory in it: the archive's name without its suffix */
	char members[PATH_BYTES + SUPPORT_NAME_BYTES]; /* path of that directory */
	int failed;                                    /* negative errno of a failed member */
	const char *socket, *file;
	json_int_t pid; /* of the daemon, or 0 */
	char *error;    /* why the daemon did not answer, or "" */
	size_t error_bytes;
};

/* ---- the archive ---- */

/* Creates a member, at most one directory deep. Returns NULL on failure. */
static FILE *member_open(struct support *support, const char *name)
{
	char path[sizeof(support->members) + SUPPORT_NAME_BYTES], *slash;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", support->members, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	if (mkdir(path, 0700) && errno != EEXIST)
		support->failed = -errno;
	*slash = '/';
	out = fopen(path, "we");
	if (!out)
		support->failed = -errno;
	return out;
}

static void end(struct support *support, FILE *out)
{
	bool wrong = ferror(out);

	if (fclose(out))
		support->failed = -errno;
	else if (wrong)
		support->failed = -EIO;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/*
 * Packs the directory into @fd. Returns 0, -ENOEXEC without tar, -EIO if tar failed, or another
 * negative errno.
 */
static int archive_pack(const struct support *support, int fd)
{
	const char *words[] = {"tar",         "--create",    "--gzip",        "--file=-",
			       "--owner=0",   "--group=0",   "--mode=go=",    "--sort=name",
			       "--directory", support->work, support->folder, NULL};
	posix_spawn_file_actions_t actions;
	int status = 0, rc;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	rc = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return rc == ENOENT ? -ENOEXEC : -rc;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -EIO : 0;
}

/* ---- the daemon's answers ---- */

/*
 * Commands that change nothing and show no payload; control_commands[] need not have all of them.
 */
static const char *const questions[] = {"status",   "services", "connections", "stats",
					"counters", "config",   "latency"};

static void put_answer(const json_t *answer, const char *command, FILE *out)
{
	char *text = json_dumps(answer, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

	if (text && !strcmp(command, "config")) {
		redact_text(text, strlen(text), out);
	} else if (text) {
		fputs(text, out);
		fputc('\n', out);
	}
	free(text);
}

/* Writes the answer to a command; skipped once the daemon has failed to answer. */
static void query_daemon(struct support *support, const char *command)
{
	char name[SUPPORT_NAME_BYTES];
	json_t *answer = NULL, *pid;
	FILE *out;

	if (!control_command_find(command) || support->error[0])
		return;
	snprintf(name, sizeof(name), "%s.json", command);
	out = member_open(support, name);
	if (!out)
		return;
	if (client_request(support->socket, command, NULL, support->error, support->error_bytes,
			   &answer)) {
		fprintf(out, "[%s]\n", support->error);
	} else {
		put_answer(answer, command, out);
		pid = json_object_get(answer, "pid");
		if (json_is_integer(pid))
			support->pid = json_integer_value(pid);
		json_decref(answer);
	}
	end(support, out);
}

/* ---- files ---- */

static char *read_text(const char *path, size_t *len)
{
	struct stat st;
	FILE *in = fopen(path, "re");
	char *text = NULL;

	if (!in)
		return NULL;
	/* Reading a pipe can block, and a device can be endless. */
	if (fstat(fileno(in), &st) || !S_ISREG(st.st_mode))
		errno = EINVAL;
	else
		text = malloc(MAX_BYTES);
	if (text)
		*len = fread(text, 1, MAX_BYTES, in);
	fclose(in);
	return text;
}

static void put_file(struct support *support, const char *name, const char *path, bool secret)
{
	FILE *out = member_open(support, name);
	size_t len = 0;
	char *text;

	if (!out)
		return;
	text = read_text(path, &len);
	if (!text)
		fprintf(out, "[%s: %s]\n", path, strerror(errno));
	else if (secret)
		redact_text(text, len, out);
	else
		fwrite(text, 1, len, out);
	free(text);
	end(support, out);
}

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".conf");
}

/* Adds the files of include_dir, if it is set. */
static void put_included(struct support *support)
{
	char error[256], name[SUPPORT_NAME_BYTES], path[4096], *folder = NULL;
	struct dirent **entries = NULL;
	int n;

	if (config_string(support->file, "include_dir", "", error, sizeof(error), &folder) ||
	    !folder[0]) {
		free(folder);
		return;
	}
	n = scandir(folder, &entries, is_conf, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "conf.d/%.40s", entries[i]->d_name);
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) <
		    sizeof(path))
			put_file(support, name, path, true);
		free(entries[i]);
	}
	free(entries);
	free(folder);
}

/* ---- programs ---- */

struct program {
	const char *name; /* of the member */
	bool secret;      /* redact secrets */
	const char *words[RUN_PROGRAM_MAX_WORDS];
};

static const struct program programs[] = {
	{"log", true, {"journalctl", "-u", UNIT, "-n", "5000", "--no-pager", "-o", "short-iso"}},
	{"unit", true, {"systemctl", "status", "--no-pager", "--full", "-n", "0", UNIT}},
	{"unit.properties", true, {"systemctl", "show", "--no-pager", UNIT}},
	{"unit.files", true, {"systemctl", "cat", "--no-pager", UNIT}},
	{"host/version", false, {UNIT, "-V"}},
	{"host/uname", false, {"uname", "-a"}},
	{"host/address", false, {"ip", "-details", "-statistics", "address"}},
	{"host/route", false, {"ip", "route", "show", "table", "all"}},
	{"host/rdma", false, {"rdma", "link"}},
	{"host/sockets", false, {"ss", "-tnpoai"}},
	{"host/mounts", true, {"findmnt", "-t", "nfs,nfs4"}},
	{"host/rpcinfo", false, {"rpcinfo"}},
	{"host/memory", false, {"free", "-m"}},
};

static void put_program(struct support *support, const struct program *program)
{
	FILE *out = member_open(support, program->name), *said;
	char *text = NULL;
	size_t len;

	if (!out)
		return;
	said = program->secret ? open_memstream(&text, &len) : out;
	if (said)
		run_program(program->words, RUN_TIMEOUT_S, MAX_BYTES, said);
	if (said && said != out) {
		fclose(said);
		redact_text(text, len, out);
		free(text);
	}
	end(support, out);
}

static void put_process(struct support *support)
{
	static const char *const files[] = {"limits", "status"};
	char path[64], name[SUPPORT_NAME_BYTES];

	for (size_t i = 0; support->pid > 0 && i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "/proc/%" JSON_INTEGER_FORMAT "/%s", support->pid,
			 files[i]);
		snprintf(name, sizeof(name), "process/%s", files[i]);
		put_file(support, name, path, false);
	}
}

/* ---- all of it ---- */

static void collect_members(struct support *support)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		query_daemon(support, questions[i]);
	put_file(support, "rpcrdma-proxy.conf", support->file, true);
	put_included(support);
	put_process(support);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		put_program(support, &programs[i]);
}

static void name_by_time(char name[SUPPORT_NAME_BYTES])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(name, SUPPORT_NAME_BYTES, UNIT "-support-%Y%m%d-%H%M%S", &tm);
}

/* Writes the archive to @fd. Returns 0 or a negative errno. */
static int write_archive(struct support *support, int fd)
{
	int rc;

	if (!mkdtemp(support->work))
		return -errno;
	snprintf(support->members, sizeof(support->members), "%s/%s", support->work,
		 support->folder);
	rc = mkdir(support->members, 0700) ? -errno : 0;
	if (!rc) {
		collect_members(support);
		rc = support->failed ? support->failed : archive_pack(support, fd);
	}
	nftw(support->work, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}

/*
 * Writes the archive. Sets @name to its path, cut to @name_bytes. Sets @error to "", or to a
 * sentence without a full stop on failure or if the daemon did not answer. Returns 0 or a negative
 * errno.
 */
static int support_write(const char *socket, const char *file, const char *path, char *name,
			 size_t name_bytes, char *error, size_t error_bytes)
{
	struct support support = {
		.socket = socket, .file = file, .error = error, .error_bytes = error_bytes};
	int fd = -1, rc = -ENAMETOOLONG;

	error[0] = '\0';
	name_by_time(support.folder);
	if (path)
		snprintf(name, name_bytes, "%s", path);
	else
		snprintf(name, name_bytes, "%s.tar.gz", support.folder);
	if (snprintf(support.work, PATH_BYTES, "%s.XXXXXX", name) < (int)PATH_BYTES) {
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = fd < 0 ? -errno : write_archive(&support, fd);
	}
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (fd >= 0 && rc)
		unlink(name);
	if (rc)
		snprintf(error, error_bytes, "cannot write %s: %s", name,
			 rc == -ENOEXEC ? "tar cannot be run" : strerror(-rc));
	return rc;
}

/* If the daemon does not answer, the archive is still useful. */
int local_support(const struct options *options, const char *path)
{
	char name[PATH_MAX], error[PATH_MAX + 128];

	if (support_write(options->socket, options->file ? options->file : CONFIG_DEFAULT_FILE,
			  path, name, sizeof(name), error, sizeof(error)))
		return ctl_error(EXIT_USAGE, "%s", error);
	if (error[0])
		ctl_error(0, "without the daemon's answers: %s", error);
	printf("%s\n", name);
	return EXIT_OK;
}
