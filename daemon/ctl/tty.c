// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/tty.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Switches to the alternate screen, without a cursor and line wrap; and back. */
#define ENTER         "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE         "\033[?7h\033[?25h\033[?1049l"

#define USUAL_COLUMNS 80u
#define USUAL_LINES   24u

static struct termios saved, ours;
/* These two signals are blocked except while waiting. */
static sigset_t blocked, usual;

bool tty_is_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

static int write_screen(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* ---- signals: everything called here is async-signal-safe ---- */

static int screen_enter(void)
{
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &ours))
		return -errno;
	return write_screen(ENTER, strlen(ENTER));
}

static void screen_leave(void)
{
	(void)write_screen(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
}

static void set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

/* The default action, which SA_RESETHAND has restored, follows on return. */
static void on_end(int number)
{
	int err = errno;

	screen_leave();
	raise(number);
	errno = err;
}

/* The process stops and continues within this handler. */
static void on_stop(int number)
{
	sigset_t stop, mask;
	int err = errno;

	screen_leave();
	set_handler(SIGTSTP, SIG_DFL, 0);
	raise(SIGTSTP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	set_handler(SIGTSTP, on_stop, 0);
	(void)screen_enter();
	errno = err;
}

/* Only interrupts the wait. */
static void on_change(int number)
{
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS};

static void catch_signals(void)
{
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGWINCH);
	sigaddset(&blocked, SIGTSTP);
	sigprocmask(SIG_BLOCK, &blocked, &usual);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		set_handler(ends[i], on_end, (int)SA_RESETHAND);
	set_handler(SIGWINCH, on_change, 0);
	set_handler(SIGTSTP, on_stop, 0);
}

static void restore_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		set_handler(ends[i], SIG_DFL, 0);
	set_handler(SIGWINCH, SIG_DFL, 0);
	set_handler(SIGTSTP, SIG_DFL, 0);
	sigprocmask(SIG_SETMASK, &usual, NULL);
}

/* ---- the screen ---- */

int tty_start(void)
{
	int rc;

	if (tcgetattr(STDIN_FILENO, &saved))
		return -errno;
	ours = saved;
	ours.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	ours.c_cc[VMIN] = 1;
	ours.c_cc[VTIME] = 0;
	catch_signals();
	rc = screen_enter();
	if (rc)
		tty_restore();
	return rc;
}

void tty_restore(void)
{
	screen_leave();
	restore_signals();
}

void tty_size(unsigned *columns, unsigned *lines)
{
	struct winsize size = {0};

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*columns = size.ws_col ? size.ws_col : USUAL_COLUMNS;
	*lines = size.ws_row ? size.ws_row : USUAL_LINES;
}

int tty_wait(double seconds)
{
	struct timespec time = {.tv_sec = seconds > 0 ? (time_t)seconds : 0};
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char key;
	int n;

	if (seconds > 0)
		time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	n = ppoll(&fd, 1, &time, &usual);
	if (n < 0)
		return errno == EINTR ? TTY_TIMEOUT : TTY_EOF;
	if (!n)
		return TTY_TIMEOUT;
	return read(STDIN_FILENO, &key, 1) == 1 ? key : TTY_EOF;
}

size_t tty_cut(const char *line, size_t len, unsigned columns)
{
	unsigned used = 0;
	size_t i = 0;

	for (; i < len; i++) {
		/* Continuation bytes of a character are 10xxxxxx. */
		if (((unsigned char)line[i] & 0xc0) == 0x80)
			continue;
		if (used++ == columns)
			break;
	}
	return i;
}

int tty_draw(const char *text)
{
	unsigned columns, lines, line = 0;
	char *frame = NULL;
	size_t bytes, len;
	FILE *out = open_memstream(&frame, &bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	tty_size(&columns, &lines);
	fputs("\033[H", out);
	for (; *text && line < lines; line++) {
		len = strcspn(text, "\n");
		/*
		 * Clear the line first: after a full line the cursor is still on its last
		 * character, which would be erased.
		 */
		fprintf(out, "%s\033[K%.*s", line ? "\r\n" : "", (int)tty_cut(text, len, columns),
			text);
		text += len + (text[len] == '\n');
	}
	if (line < lines)
		fputs("\r\n\033[J", out);
	rc = fclose(out) ? -ENOMEM : write_screen(frame, bytes);
	free(frame);
	return rc;
}
