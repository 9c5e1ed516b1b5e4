// SPDX-License-Identifier: BSD-3-Clause
/* Where the control socket listens: making it, and what to say when that fails. */
#include "daemon/control/control_socket.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTEN_BACKLOG 128

static int PRINTF_LIKE(4, 5) fail(int err, char *error, size_t error_bytes, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, error_bytes, format, ap);
	va_end(ap);
	return -err;
}

/* The cure for what bind() said, with what parts it from the cause; "" where none is known. */
static const char *bind_cure(int err)
{
	switch (err) {
	case ENOTDIR:
		return ": set control to a path in a directory";
	case EACCES:
	case EPERM:
	case EROFS:
		return ": the daemon's user must be able to write in that directory; let it, or set "
		       "control";
	default:
		return "";
	}
}

static int cannot_bind(int err, const char *path, char *error, size_t error_bytes)
{
	if (err == ENOENT)
		return fail(err, error, error_bytes,
			    "cannot bind %s: the directory does not exist (the unit makes it): "
			    "create it or set control",
			    path);
	return fail(err, error, error_bytes, "cannot bind %s: %s%s", path, strerror(err),
		    bind_cure(err));
}

/* Makes room for our socket: removes one that nobody listens on. */
static int clear_path(const struct sockaddr_un *addr, char *error, size_t error_bytes)
{
	const char *path = addr->sun_path;
	struct stat st;
	int fd, err;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : cannot_bind(errno, path, error, error_bytes);
	if (!S_ISSOCK(st.st_mode))
		return fail(EEXIST, error, error_bytes,
			    "%s exists and is not a socket: remove it or set control", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(errno, error, error_bytes, "cannot make a socket: %s", strerror(errno));
	err = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? errno : 0;
	close(fd);
	/* EAGAIN: there is a listener, whose queue is full. */
	if (!err || err == EAGAIN)
		return fail(EADDRINUSE, error, error_bytes,
			    "already running: a daemon listens on %s; stop it, or set control to "
			    "another path",
			    path);
	if (err != ECONNREFUSED)
		return fail(err, error, error_bytes, "cannot try %s: %s", path, strerror(err));
	if (unlink(path))
		return fail(errno, error, error_bytes, "cannot remove the stale socket %s: %s",
			    path, strerror(errno));
	return 0;
}

int control_socket_listen(const char *path, struct sockaddr_un *addr, char *error,
			  size_t error_bytes, int *out)
{
	int rc, fd;

	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path))
		return fail(ENAMETOOLONG, error, error_bytes,
			    "%s is too long for a socket (%zu bytes at most): set control", path,
			    sizeof(addr->sun_path) - 1);
	strcpy(addr->sun_path, path);
	rc = clear_path(addr, error, error_bytes);
	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(errno, error, error_bytes, "cannot make a socket: %s", strerror(errno));
	/* Before bind(), so that the path never has a wider mode; after it, since the umask counts. */
	if (fchmod(fd, 0660) || bind(fd, (const struct sockaddr *)addr, sizeof(*addr))) {
		rc = cannot_bind(errno, path, error, error_bytes);
		close(fd);
		return rc;
	}
	if (chmod(path, 0660) || listen(fd, LISTEN_BACKLOG)) {
		rc = fail(errno, error, error_bytes, "cannot listen on %s: %s", path,
			  strerror(errno));
		unlink(path);
		close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}
