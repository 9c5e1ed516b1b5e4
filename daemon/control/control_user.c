// SPDX-License-Identifier: BSD-3-Clause
/* The user at the other end of a connection to the control socket. */
#include "daemon/control/control_user.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct control_user control_user_of(int fd)
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

const char *control_user_text(const struct control_user *user,
			      char text[static CONTROL_USER_TEXT_BYTES])
{
	if (user->uid != (uid_t)-1)
		snprintf(text, CONTROL_USER_TEXT_BYTES, "uid %lu", (unsigned long)user->uid);
	else
		snprintf(text, CONTROL_USER_TEXT_BYTES, "an unknown user");
	return text;
}
