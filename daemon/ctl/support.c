// SPDX-License-Identifier: BSD-3-Clause
/* One archive for who is to help: the daemon's answers, its file and log, and what the host is like. */
#include "daemon/ctl/support.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/control_path.h"
#include "daemon/ctl/run_program.h"
#include "daemon/ctl/secrets.h"
#include "daemon/ctl/tarball.h"

#define UNIT          "rpcrdma-proxy"
#define RUN_TIMEOUT_S 5u
#define MAX_BYTES     (16u << 20) /* of one member */
#define PID_BYTES     24u

struct support {
	struct tarball tarball;
	const char *folder; /* of the members: the archive's name without its ending */
	const char *socket, *file;
	json_int_t pid; /* of the daemon, or 0 */
	char *error;    /* why the daemon did not answer, or "" */
	size_t error_bytes;
};

/* A member while it is written. */
struct member {
	const char *name;
	char *text;
	size_t len;
	FILE *out;
};

static FILE *begin(struct member *member, const char *name)
{
	*member = (struct member){.name = name};
	member->out = open_memstream(&member->text, &member->len);
	return member->out;
}

static void end(struct support *support, struct member *member)
{
	char name[TARBALL_NAME_BYTES];

	fclose(member->out);
	snprintf(name, sizeof(name), "%s/%s", support->folder, member->name);
	if (member->text)
		tarball_add(&support->tarball, name, member->text, member->len);
	free(member->text);
}

/* ---- the daemon's answers ---- */

/* Those that change nothing and show no payload; of which this daemon's table has some. */
static const char *const questions[] = {"status",   "services", "connections", "stats",
					"counters", "config",   "latency"};

static void put_answer(const json_t *answer, const char *command, FILE *out)
{
	char *text = json_dumps(answer, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

	if (text && !strcmp(command, "config")) {
		secrets_cut(text, strlen(text), out);
	} else if (text) {
		fputs(text, out);
		fputc('\n', out);
	}
	free(text);
}

/* Once it has not answered it is not asked again. */
static void ask(struct support *support, const char *command)
{
	char name[SUPPORT_NAME_BYTES];
	struct member member;
	json_t *answer = NULL, *pid;

	if (!control_command_find(command) || support->error[0])
		return;
	snprintf(name, sizeof(name), "%s.json", command);
	if (!begin(&member, name))
		return;
	if (client_ask(support->socket, command, NULL, support->error, support->error_bytes,
		       &answer)) {
		fprintf(member.out, "[%s]\n", support->error);
	} else {
		put_answer(answer, command, member.out);
		pid = json_object_get(answer, "pid");
		if (json_is_integer(pid))
			support->pid = json_integer_value(pid);
		json_decref(answer);
	}
	end(support, &member);
}

/* ---- files ---- */

static char *read_text(const char *path, size_t *len)
{
	struct stat st;
	FILE *in = fopen(path, "re");
	char *text = NULL;

	if (!in)
		return NULL;
	/* A pipe would be waited for, a device has no end. */
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
	struct member member;
	size_t len = 0;
	char *text;

	if (!begin(&member, name))
		return;
	text = read_text(path, &len);
	if (!text)
		fprintf(member.out, "[%s: %s]\n", path, strerror(errno));
	else if (secret)
		secrets_cut(text, len, member.out);
	else
		fwrite(text, 1, len, member.out);
	free(text);
	end(support, &member);
}

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".conf");
}

/* Those of include_dir, if the file has one. */
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
	bool secret;      /* what looks like one is cut */
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
	struct member member, said;

	if (!begin(&member, program->name))
		return;
	if (program->secret && begin(&said, program->name)) {
		run_program(program->words, RUN_TIMEOUT_S, MAX_BYTES, said.out);
		fclose(said.out);
		secrets_cut(said.text, said.len, member.out);
		free(said.text);
	} else if (!program->secret) {
		run_program(program->words, RUN_TIMEOUT_S, MAX_BYTES, member.out);
	}
	end(support, &member);
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

static void collect(struct support *support)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(support, questions[i]);
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

int support_write(const char *socket, const char *file, const char *path, char *name,
		  size_t name_bytes, char *error, size_t error_bytes)
{
	char folder[SUPPORT_NAME_BYTES], preset[SUPPORT_NAME_BYTES + sizeof(".tar.gz")];
	struct support support = {.folder = folder,
				  .socket = socket,
				  .file = file,
				  .error = error,
				  .error_bytes = error_bytes};
	int rc;

	error[0] = '\0';
	name_by_time(folder);
	snprintf(preset, sizeof(preset), "%s.tar.gz", folder);
	snprintf(name, name_bytes, "%s", path ? path : preset);
	rc = tarball_open(&support.tarball, path ? path : preset);
	if (!rc) {
		collect(&support);
		rc = tarball_close(&support.tarball);
	}
	if (rc)
		snprintf(error, error_bytes, "cannot write %s: %s", name,
			 rc == -ENOEXEC ? "gzip cannot be run" : strerror(-rc));
	return rc;
}
