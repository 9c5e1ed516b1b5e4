// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/client.h"

#include <errno.h>
#include <grp.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/paths.h"
#include "daemon/config/config_parse.h"
#include "daemon/control/control_request.h"

/* Parses the file as the daemon does. The first line of @reported has the cause of a failure. */
static int parse_file(const char *file, config_t *parsed, char **reported)
{
	struct config_ctx r;
	size_t bytes;
	FILE *errors = open_memstream(reported, &bytes);
	int rc;

	if (!errors)
		return -ENOMEM;
	rc = config_ctx_init(&r, file, errors);
	if (!rc)
		rc = config_parse(&r, parsed);
	fclose(errors);
	return rc;
}

int config_string(const char *file, const char *key, const char *preset, char *error,
		  size_t error_bytes, char **out)
{
	const char *value = preset;
	char *reported = NULL;
	config_t parsed;
	int rc;

	config_init(&parsed);
	rc = parse_file(file, &parsed, &reported);
	if (!rc) {
		config_lookup_string(&parsed, key, &value);
		*out = strdup(value);
		rc = *out ? 0 : -ENOMEM;
	}
	if (rc && reported && reported[0])
		snprintf(error, error_bytes, "%.*s", (int)strcspn(reported, "\n"), reported);
	else if (rc)
		snprintf(error, error_bytes, "%s: %s", file, strerror(-rc));
	free(reported);
	config_destroy(&parsed);
	return rc;
}

int control_path(const char *file, char *error, size_t error_bytes, char **out)
{
	return config_string(file, "control", CONTROL_DEFAULT_SOCKET, error, error_bytes, out);
}

/*
 * Returns the length of a control character, or 0. Control characters of Latin 1 have two bytes in
 * UTF-8.
 */
static size_t control_bytes(const char *at)
{
	const unsigned char *c = (const unsigned char *)at;

	if (*c < 0x20 || *c == 0x7f)
		return 1;
	return c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
}

static char *sanitize_text(const char *text)
{
	char *plain = strdup(text), *to = plain;

	while (plain && *text) {
		size_t skip = control_bytes(text);

		*to++ = skip ? '?' : *text;
		text += skip ? skip : 1;
	}
	if (plain)
		*to = '\0';
	return plain;
}

static json_t *sanitize_string(const json_t *value)
{
	char *text = sanitize_text(json_string_value(value));
	json_t *plain = text ? json_string(text) : NULL;

	free(text);
	return plain;
}

static json_t *sanitize_array(const json_t *value)
{
	json_t *plain = json_array();

	for (size_t i = 0; i < json_array_size(value); i++) {
		if (json_array_append_new(plain, sanitize_json(json_array_get(value, i)))) {
			json_decref(plain);
			return NULL;
		}
	}
	return plain;
}

static json_t *sanitize_object(const json_t *value)
{
	json_t *plain = json_object(), *member;
	const char *key;
	char *text;
	int rc;

	json_object_foreach((json_t *)value, key, member)
	{
		text = sanitize_text(key);
		rc = text ? json_object_set_new(plain, text, sanitize_json(member)) : -1;
		free(text);
		if (rc) {
			json_decref(plain);
			return NULL;
		}
	}
	return plain;
}

json_t *sanitize_json(const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_STRING:
		return sanitize_string(value);
	case JSON_ARRAY:
		return sanitize_array(value);
	case JSON_OBJECT:
		return sanitize_object(value);
	default:
		return json_incref((json_t *)value);
	}
}

json_t *sanitize_load(const char *text, size_t len)
{
	json_t *said = json_loadb(text, len, 0, NULL), *plain = sanitize_json(said);

	json_decref(said);
	return plain;
}

#define CHUNK_BYTES 65536u
#define GROUP_BYTES 64u
#define GRANT_BYTES 4096u

static int PRINTF_LIKE(4, 5)
	set_error(int err, char *error, size_t error_bytes, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, error_bytes, format, ap);
	va_end(ap);
	return -err;
}

/* Gets the group of the socket, or the packaged group if the directory cannot be searched. */
static void group_of(const char *path, char name[GROUP_BYTES])
{
	const struct group *group = NULL;
	struct stat st;

	snprintf(name, GROUP_BYTES, "rpcrdma-proxy");
	if (stat(path, &st))
		return;
	group = getgrgid(st.st_gid);
	if (group)
		snprintf(name, GROUP_BYTES, "%s", group->gr_name);
	else
		snprintf(name, GROUP_BYTES, "%u", (unsigned)st.st_gid);
}

static int fail_connect(int err, const char *path, char *error, size_t error_bytes)
{
	char group[GROUP_BYTES];

	switch (err) {
	case ENOENT:
	case ECONNREFUSED:
		return set_error(err, error, error_bytes,
				 "cannot reach the daemon (%s: %s): is it running? "
				 "systemctl status rpcrdma-proxy",
				 path, strerror(err));
	case EACCES:
	case EPERM:
		group_of(path, group);
		return set_error(err, error, error_bytes,
				 "no permission for %s: it is for root and the group %s", path,
				 group);
	default:
		return set_error(err, error, error_bytes, "cannot connect to %s: %s", path,
				 strerror(err));
	}
}

/* Longer than the daemon's own time limit for an answer. */
static unsigned patience_s(const char *command)
{
	const struct control_command *found = control_command_find(command);

	return CLIENT_TIMEOUT_S + (found ? found->answer_timeout_s : 0);
}

static int connect_to(const char *path, unsigned timeout_s, char *error, size_t error_bytes,
		      int *out)
{
	const struct timeval timeout = {.tv_sec = timeout_s};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return set_error(ENAMETOOLONG, error, error_bytes, "%s is too long for a socket",
				 path);
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return set_error(errno, error, error_bytes, "cannot make a socket: %s",
				 strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		err = errno;
		close(fd);
		return fail_connect(err, path, error, error_bytes);
	}
	*out = fd;
	return 0;
}

/* Sends JSON, so that an argument can contain any characters. Returns 0 or an errno. */
static int send_request(int fd, const char *command, const char *argument)
{
	json_t *object =
		json_pack("{s:s, s:s}", "command", command, "argument", argument ? argument : "");
	char *text = json_dumps(object, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0;
	int err = 0;

	json_decref(object);
	if (!text)
		return ENOMEM;
	text[len] = '\n'; /* replaces the zero byte: @len is known */
	/* A daemon without a free slot answers without reading the request, and closes. */
	if (send(fd, text, len + 1, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		err = errno;
	free(text);
	return err;
}

static int read_answer(int fd, char **answer, size_t *answer_bytes)
{
	char *text = NULL, *more;
	size_t len = 0;
	ssize_t n;

	for (;;) {
		more = len < CLIENT_MAX_ANSWER_BYTES ? realloc(text, len + CHUNK_BYTES) : NULL;
		if (!more) {
			free(text);
			return ENOMEM;
		}
		text = more;
		n = recv(fd, text + len, CHUNK_BYTES, 0);
		if (n == 0 || (n < 0 && errno == ECONNRESET && len))
			break;
		if (n < 0 && errno != EINTR) {
			free(text);
			return errno;
		}
		len += n > 0 ? (size_t)n : 0;
	}
	*answer = text;
	*answer_bytes = len;
	return 0;
}

static int fail_without_answer(bool is_late, char *error, size_t error_bytes)
{
	return is_late ? set_error(ETIMEDOUT, error, error_bytes,
				   "the daemon did not answer in time")
		       : set_error(EPROTO, error, error_bytes,
				   "the daemon closed without an answer");
}

static int exchange(int fd, const char *command, const char *argument, char *error,
		    size_t error_bytes, json_t **answer)
{
	char *text = NULL;
	size_t len = 0;
	int err;

	err = send_request(fd, command, argument);
	if (!err && shutdown(fd, SHUT_WR) && errno != ENOTCONN)
		err = errno;
	if (!err)
		err = read_answer(fd, &text, &len);
	if (err && err != EAGAIN)
		return set_error(err, error, error_bytes, "cannot query the daemon: %s",
				 strerror(err));
	*answer = err ? NULL : sanitize_load(text, len);
	free(text);
	return *answer ? 0 : fail_without_answer(err == EAGAIN, error, error_bytes);
}

int client_request(const char *path, const char *command, const char *argument, char *error,
		   size_t error_bytes, json_t **answer)
{
	int fd = -1, rc;

	rc = connect_to(path, patience_s(command), error, error_bytes, &fd);
	if (rc)
		return rc;
	rc = exchange(fd, command, argument, error, error_bytes, answer);
	close(fd);
	return rc;
}

/*
 * Reads a line byte by byte; the caller reads the rest. Returns its length, 0 at end of file, or a
 * negative errno.
 */
static ssize_t read_line(int fd, char *line, size_t capacity)
{
	size_t len = 0;

	while (len < capacity) {
		ssize_t n = recv(fd, line + len, 1, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		if (line[len++] == '\n')
			return (ssize_t)len;
	}
	return -EMSGSIZE;
}

/*
 * Reads the line that grants or refuses the stream. Returns 0, 1 if refused, or a negative errno.
 */
static int read_grant(int fd, char *error, size_t error_bytes, json_t **grant)
{
	char line[GRANT_BYTES];
	ssize_t len = read_line(fd, line, sizeof(line));
	json_t *plain = len > 0 ? sanitize_load(line, (size_t)len) : NULL;
	const char *refused = json_string_value(json_object_get(plain, "error"));

	if (refused)
		snprintf(error, error_bytes, "%s", refused);
	if (plain && !refused) {
		*grant = plain;
		return 0;
	}
	json_decref(plain);
	if (plain)
		return 1;
	return fail_without_answer(len == -EAGAIN, error, error_bytes);
}

int client_stream(const char *path, const char *command, const char *argument, char *error,
		  size_t error_bytes, json_t **grant, FILE **in)
{
	const struct timeval for_ever = {0};
	int fd = -1, rc;

	rc = connect_to(path, CLIENT_TIMEOUT_S, error, error_bytes, &fd);
	if (rc)
		return rc;
	rc = send_request(fd, command, argument);
	if (rc)
		rc = set_error(rc, error, error_bytes, "cannot query the daemon: %s", strerror(rc));
	else
		rc = read_grant(fd, error, error_bytes, grant);
	if (rc) {
		close(fd);
		return rc;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof(for_ever));
	*in = fdopen(fd, "r");
	if (*in)
		return 0;
	json_decref(*grant);
	close(fd);
	return set_error(ENOMEM, error, error_bytes, "out of memory");
}
