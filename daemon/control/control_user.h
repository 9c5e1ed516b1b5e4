/* SPDX-License-Identifier: BSD-3-Clause */
/* The user at the other end of a connection to the control socket. */
#ifndef DAEMON_CONTROL_CONTROL_USER_H
#define DAEMON_CONTROL_CONTROL_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define CONTROL_USER_TEXT_BYTES 24u

struct control_user {
	uid_t uid;    /* (uid_t)-1: the kernel does not say */
	bool is_root; /* or the daemon's own user: may change things */
};

/** control_user_of - the user that connected to @fd. */
struct control_user control_user_of(int fd);
/** control_user_text - "uid 1000", or "an unknown user". Returns @text. */
const char *control_user_text(const struct control_user *user,
			      char text[static CONTROL_USER_TEXT_BYTES]);

#endif
