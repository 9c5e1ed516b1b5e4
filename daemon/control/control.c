// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client is READING its request, then WAITING for the answer, then WRITING it; a timer limits
 * each of the three. If a client disconnects while its query runs, the query stays until done() is
 * called.
 */
#include "daemon/control/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/log.h"
#include "daemon/control/control_request.h"
#include "daemon/view/answer.h"

/* Returns the user that connected to @fd. */
static struct control_user control_user_of(int fd)
{
	struct control_user user = {.uid = (uid_t)-1};
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return user;
	user.uid = cred.uid;
	user.is_root = cred.uid == 0 || cred.uid == geteuid();
	return user;
}

#define CONTROL_USER_TEXT_BYTES 24u

/* Writes "uid 1000" or "an unknown user" to @text and returns it. */
static const char *control_user_text(const struct control_user *user,
				     char text[static CONTROL_USER_TEXT_BYTES])
{
	if (user->uid != (uid_t)-1)
		snprintf(text, CONTROL_USER_TEXT_BYTES, "uid %lu", (unsigned long)user->uid);
	else
		snprintf(text, CONTROL_USER_TEXT_BYTES, "an unknown user");
	return text;
}

#define LISTEN_BACKLOG 128

static int PRINTF_LIKE(4, 5)
	set_error(int err, char *error, size_t error_bytes, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, error_bytes, format, ap);
	va_end(ap);
	return -err;
}

/* Returns the advice for an errno of bind(), with the leading colon; "" if none is known. */
static const char *bind_advice(int err)
{
	switch (err) {
	case ENOTDIR:
		return ": set control to a path in a directory";
	case EACCES:
	case EPERM:
	case EROFS:
		return ": allow the daemon's user to write in that directory, or set control to "
		       "another path";
	default:
		return "";
	}
}

static int cannot_bind(int err, const char *path, char *error, size_t error_bytes)
{
	if (err == ENOENT)
		return set_error(
			err, error, error_bytes,
			"cannot bind %s: the directory does not exist (the unit makes it): "
			"create it or set control",
			path);
	return set_error(err, error, error_bytes, "cannot bind %s: %s%s", path, strerror(err),
			 bind_advice(err));
}

/* Removes a stale socket at the address. Returns 0, or a negative errno after setting @error. */
static int clear_path(const struct sockaddr_un *addr, char *error, size_t error_bytes)
{
	const char *path = addr->sun_path;
	struct stat st;
	int fd, err;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : cannot_bind(errno, path, error, error_bytes);
	if (!S_ISSOCK(st.st_mode))
		return set_error(EEXIST, error, error_bytes,
				 "%s exists and is not a socket: remove it or set control", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return set_error(errno, error, error_bytes, "cannot make a socket: %s",
				 strerror(errno));
	err = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? errno : 0;
	close(fd);
	/* EAGAIN: a daemon listens, and its accept queue is full. */
	if (!err || err == EAGAIN)
		return set_error(
			EADDRINUSE, error, error_bytes,
			"already running: a daemon listens on %s; stop it, or set control to "
			"another path",
			path);
	if (err != ECONNREFUSED)
		return set_error(err, error, error_bytes, "cannot try %s: %s", path, strerror(err));
	if (unlink(path))
		return set_error(errno, error, error_bytes, "cannot remove the stale socket %s: %s",
				 path, strerror(errno));
	return 0;
}

/*
 * control_socket_listen - Listens at @path on a socket that root and the daemon's group can use.
 * @addr:  set to its address
 * @error: set on failure to a sentence with cause and remedy
 * @out:   set to a non-blocking descriptor, which the caller owns; the caller also unlinks the path
 *
 * Replaces a socket without a listener. Returns 0, -ENAMETOOLONG, -EADDRINUSE if a daemon listens
 * there, -EEXIST if the path is not a socket, or another negative errno.
 */
static int control_socket_listen(const char *path, struct sockaddr_un *addr, char *error,
				 size_t error_bytes, int *out)
{
	int rc, fd;

	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path))
		return set_error(ENAMETOOLONG, error, error_bytes,
				 "%s is too long for a socket (%zu bytes at most): set control",
				 path, sizeof(addr->sun_path) - 1);
	strcpy(addr->sun_path, path);
	rc = clear_path(addr, error, error_bytes);
	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return set_error(errno, error, error_bytes, "cannot make a socket: %s",
				 strerror(errno));
	/*
	 * Before bind(), so that the path never has a wider mode; and after it, because the umask
	 * applies.
	 */
	if (fchmod(fd, 0660) || bind(fd, (const struct sockaddr *)addr, sizeof(*addr))) {
		rc = cannot_bind(errno, path, error, error_bytes);
		close(fd);
		return rc;
	}
	if (chmod(path, 0660) || listen(fd, LISTEN_BACKLOG)) {
		rc = set_error(errno, error, error_bytes, "cannot listen on %s: %s", path,
			       strerror(errno));
		unlink(path);
		close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}

#define ACCEPT_RETRY_US  1000000u /* after running out of descriptors or memory */
#define ACCEPTS_PER_TURN 32u

enum client_state { CLIENT_READING, CLIENT_WAITING, CLIENT_WRITING };

/* A query in progress. */
struct control_query {
	struct control_client *client; /* NULL once the client has disconnected */
};

struct control_client {
	TAILQ_ENTRY(control_client) entry;
	struct control *control;
	struct control_user user;
	enum client_state state;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	struct control_query *query; /* while WAITING */
	size_t len;
	char request[CONTROL_MAX_REQUEST_BYTES + 1];
	char *reply; /* while WRITING */
	size_t reply_bytes, sent_bytes;
};

struct control {
	struct loop *loop;
	const struct control_ops *ops;
	void *arg;
	struct sockaddr_un addr;
	int fd;
	struct loop_io *io;
	struct loop_timer *retry;
	unsigned nclients;
	TAILQ_HEAD(, control_client) clients;
	struct log_limit refused; /* lines about users without a slot */
};

static void accept_more(struct control *control)
{
	loop_io_set(control->loop, control->io,
		    control->nclients < CONTROL_MAX_CLIENTS ? LOOP_READ : 0);
}

static void control_client_drop(struct control_client *client)
{
	struct control *control = client->control;

	if (client->query)
		client->query->client = NULL;
	loop_timer_free(control->loop, client->timer);
	loop_io_free(control->loop, client->io);
	close(client->fd);
	free(client->reply);
	TAILQ_REMOVE(&control->clients, client, entry);
	control->nclients--;
	free(client);
	accept_more(control);
}

/* ---- answering ---- */

/* Sends as much as the socket takes. Returns false if it freed the client. */
static bool control_client_send(struct control_client *client)
{
	while (client->sent_bytes < client->reply_bytes) {
		ssize_t n = send(client->fd, client->reply + client->sent_bytes,
				 client->reply_bytes - client->sent_bytes, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n < 0)
			break;
		client->sent_bytes += (size_t)n;
	}
	control_client_drop(client);
	return false;
}

/* Answers with @object, whose reference it takes over. It can free the client. */
static void control_client_reply(struct control_client *client, json_t *object)
{
	char *text = answer_text(object);
	size_t len = text ? strlen(text) : 0;

	if (!text) {
		control_client_drop(client);
		return;
	}
	text[len] = '\n'; /* replaces the zero byte: @len is known */
	client->state = CLIENT_WRITING;
	client->reply = text;
	client->reply_bytes = len + 1;
	loop_timer_set(client->control->loop, client->timer, CONTROL_TIMEOUT_US);
	loop_io_set(client->control->loop, client->io, LOOP_WRITE);
	control_client_send(client);
}

static void control_client_refuse(struct control_client *client, const char *why)
{
	control_client_reply(client, error_json("%s", why));
}

/* ---- running commands ---- */

static void query_done(void *arg, json_t *result)
{
	struct control_query *query = arg;
	struct control_client *client = query->client;

	free(query);
	if (!client) {
		json_decref(result);
		return;
	}
	client->query = NULL;
	if (result)
		control_client_reply(client, result);
	else
		control_client_refuse(client, "the daemon has no memory for the answer");
}

/* Returns the argument for query_done(), or NULL if memory ran out; the client is freed then. */
static struct control_query *control_client_wait(struct control_client *client,
						 const struct control_request *request)
{
	struct control *control = client->control;
	unsigned answer_timeout_s = request->command->answer_timeout_s;

	client->query = calloc(1, sizeof(*client->query));
	if (!client->query) {
		control_client_drop(client);
		return NULL;
	}
	client->query->client = client;
	client->state = CLIENT_WAITING;
	loop_io_set(control->loop, client->io, 0);
	loop_timer_set(control->loop, client->timer,
		       answer_timeout_s ? answer_timeout_s * 1000000ull : CONTROL_TIMEOUT_US);
	return client->query;
}

static void control_client_ask(struct control_client *client, const struct control_request *request)
{
	struct control *control = client->control;
	struct control_query *query = control_client_wait(client, request);
	char who[CONTROL_USER_TEXT_BYTES];

	if (query)
		control->ops->run(control->arg, request->command->id, request->argument,
				  control_user_text(&client->user, who), query_done, query);
}

static void control_client_log(struct control_client *client, const char *name)
{
	char who[CONTROL_USER_TEXT_BYTES], why[CONTROL_USER_TEXT_BYTES + sizeof("requested by ")];
	enum log_level level;

	if (log_level_parse(name, &level)) {
		control_client_refuse(client, "the level is error, warning, info or debug");
		return;
	}
	snprintf(why, sizeof(why), "requested by %s", control_user_text(&client->user, who));
	log_change_level(level, why);
	control_client_reply(client, json_pack("{s:s}", "level", log_level_name(level)));
}

static void control_client_stop(struct control_client *client, const char *argument)
{
	struct control *control = client->control;
	bool now = !strcmp(argument, "--now");
	char who[CONTROL_USER_TEXT_BYTES];

	if (argument[0] && !now) {
		control_client_refuse(client, "stop takes --now, or nothing");
		return;
	}
	log_info(NULL, "stop requested by %s via control socket%s",
		 control_user_text(&client->user, who), now ? ", now" : "");
	/* Answer first: the socket buffer is empty, so the answer is sent immediately. */
	control_client_reply(client, json_pack("{s:b}", "stopping", 1));
	control->ops->stop(control->arg, now);
}

/* The stream duplicates the descriptor, so the client is dropped here. */
static void control_client_stream(struct control_client *client,
				  const struct control_request *request)
{
	struct control *control = client->control;
	json_t *refused = control->ops->stream(control->arg, request->command->id,
					       request->argument, client->fd, &client->user);
	char who[CONTROL_USER_TEXT_BYTES];

	if (refused) {
		control_client_reply(client, refused);
		return;
	}
	/* Privileged streams show payloads, so log who requested one. */
	if (request->command->privileged)
		log_info(NULL, "%s requested by %s via control socket: %s", request->command->name,
			 control_user_text(&client->user, who),
			 request->argument[0] ? request->argument : "all");
	control_client_drop(client);
}

static void control_client_run(struct control_client *client, const struct control_request *request)
{
	switch (request->command->id) {
	case CONTROL_COMMAND_TRACE:
	case CONTROL_COMMAND_CAPTURE:
		control_client_stream(client, request);
		break;
	case CONTROL_COMMAND_LOG:
		control_client_log(client, request->argument);
		break;
	case CONTROL_COMMAND_STOP:
		control_client_stop(client, request->argument);
		break;
	default:
		control_client_ask(client, request);
		break;
	}
}

static void control_client_obey(struct control_client *client, size_t len)
{
	struct control_request request;
	const char *wrong = control_request_parse(client->request, len, &request);

	if (wrong)
		control_client_refuse(client, wrong);
	else if (request.command->privileged && !client->user.is_root)
		control_client_refuse(client, "only root and the daemon's own user may do that");
	else
		control_client_run(client, &request);
}

static void control_client_read(struct control_client *client)
{
	ssize_t n = recv(client->fd, client->request + client->len,
			 sizeof(client->request) - client->len, 0);
	const char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || (n == 0 && client->len == 0)) {
		control_client_drop(client);
		return;
	}
	client->len += (size_t)n;
	end = memchr(client->request, '\n', client->len);
	/*
	 * End of file ends a line too; a full buffer without a line end is a request that is too
	 * long.
	 */
	if (end)
		control_client_obey(client, (size_t)(end - client->request));
	else if (n == 0 || client->len == sizeof(client->request))
		control_client_obey(client, client->len);
}

static void on_client(void *arg, unsigned events)
{
	struct control_client *client = arg;

	if (events & LOOP_ERROR)
		control_client_drop(client);
	else if (client->state == CLIENT_READING)
		control_client_read(client);
	else if (client->state == CLIENT_WRITING)
		control_client_send(client);
}

static void on_timeout(void *arg)
{
	struct control_client *client = arg;

	if (client->state != CLIENT_WAITING) {
		control_client_drop(client);
		return;
	}
	client->query->client = NULL;
	client->query = NULL;
	control_client_refuse(client, "the daemon did not answer in time");
}

/* ---- listening ---- */

/* Returns NULL, or why @user gets no slot. */
static const char *no_slot(const struct control *control, const struct control_user *user)
{
	unsigned same = 0, others = 0;
	const struct control_client *client;

	if (user->is_root)
		return NULL;
	TAILQ_FOREACH(client, &control->clients, entry) {
		others += !client->user.is_root;
		same += client->user.uid == user->uid;
	}
	if (same >= CONTROL_MAX_USER_CLIENTS)
		return "your user has too many clients on the control socket: try again";
	if (others >= CONTROL_MAX_CLIENTS - CONTROL_RESERVED_CLIENTS)
		return "there are too many clients on the control socket: try again";
	return NULL;
}

/*
 * Refuses a client without waiting: the socket buffer is empty, so send() does not block. Reads a
 * request that has arrived already: closing a socket with unread data would discard the answer.
 */
static void send_no_slot(struct control *control, int fd, const struct control_user *user,
			 const char *why)
{
	char text[160], who[CONTROL_USER_TEXT_BYTES], request[CONTROL_MAX_REQUEST_BYTES];
	int len = snprintf(text, sizeof(text), "{\"schema\":%d,\"error\":\"%s\"}\n", ANSWER_SCHEMA,
			   why);

	log_write_limited(LOG_LEVEL_WARNING, &control->refused, NULL,
			  "refused a client of %s on the control socket: too many connections",
			  control_user_text(user, who));
	(void)!send(fd, text, (size_t)len, MSG_NOSIGNAL);
	(void)!recv(fd, request, sizeof(request), 0);
}

static void control_client_new(struct control *control, int fd)
{
	struct control_user user = control_user_of(fd);
	const char *why = no_slot(control, &user);
	struct control_client *client = why ? NULL : calloc(1, sizeof(*client));

	if (why)
		send_no_slot(control, fd, &user, why);
	if (!client) {
		close(fd);
		return;
	}
	client->control = control;
	client->user = user;
	client->fd = fd;
	client->io = loop_io_new(control->loop, fd, on_client, client);
	client->timer = loop_timer_new(control->loop, on_timeout, client);
	TAILQ_INSERT_TAIL(&control->clients, client, entry);
	control->nclients++;
	if (!client->io || !client->timer) {
		control_client_drop(client);
		return;
	}
	loop_io_set(control->loop, client->io, LOOP_READ);
	loop_timer_set(control->loop, client->timer, CONTROL_TIMEOUT_US);
	accept_more(control);
}

static void pause_accept(struct control *control)
{
	loop_io_set(control->loop, control->io, 0);
	loop_timer_set(control->loop, control->retry, ACCEPT_RETRY_US);
}

static void on_incoming(void *arg, unsigned events)
{
	struct control *control = arg;
	int fd;

	if (events & LOOP_ERROR) {
		pause_accept(control);
		return;
	}
	/*
	 * Accept several per iteration, so that a client with a slot does not wait for many without
	 * one.
	 */
	for (unsigned i = 0; i < ACCEPTS_PER_TURN && control->nclients < CONTROL_MAX_CLIENTS; i++) {
		fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			control_client_new(control, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			pause_accept(control);
		if (fd < 0)
			return;
	}
}

static void on_retry(void *arg)
{
	accept_more(arg);
}

int control_open(struct loop *loop, const char *path, const struct control_ops *ops, void *arg,
		 char *error, size_t error_bytes, struct control **out)
{
	struct control *control;
	int rc;

	control = calloc(1, sizeof(*control));
	if (!control)
		goto out_memory;
	control->loop = loop;
	control->ops = ops;
	control->arg = arg;
	control->fd = -1;
	control->refused = (struct log_limit){.what = "refused", .why = "control socket"};
	TAILQ_INIT(&control->clients);
	rc = control_socket_listen(path, &control->addr, error, error_bytes, &control->fd);
	if (rc) {
		control_close(control);
		return rc;
	}
	control->io = loop_io_new(loop, control->fd, on_incoming, control);
	control->retry = loop_timer_new(loop, on_retry, control);
	if (!control->io || !control->retry) {
		control_close(control);
		goto out_memory;
	}
	accept_more(control);
	*out = control;
	return 0;

out_memory:
	snprintf(error, error_bytes, "out of memory");
	return -ENOMEM;
}

void control_close(struct control *control)
{
	struct control_client *client;

	if (!control)
		return;
	while ((client = TAILQ_FIRST(&control->clients)))
		control_client_drop(client);
	loop_io_free(control->loop, control->io);
	loop_timer_free(control->loop, control->retry);
	if (control->fd >= 0) {
		unlink(control->addr.sun_path);
		close(control->fd);
	}
	free(control);
}
