/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the terminal of standard input and output as a full screen with keys, by ANSI escape
 * sequences.
 *
 * However the process ends or is stopped, the terminal is restored.
 */
#ifndef DAEMON_CTL_TTY_H
#define DAEMON_CTL_TTY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define TTY_TIMEOUT (-1) /* timeout, or the screen size changed */
#define TTY_EOF     (-2) /* end of file */

/**
 * tty_is_usable - Returns whether standard input and output are terminals, and TERM is not "dumb".
 */
bool tty_is_usable(void);
/** tty_start - Switches to the full screen. Returns 0 or a negative errno. */
int tty_start(void) MUST_CHECK;
/** tty_restore - Restores the terminal. */
void tty_restore(void);
/** tty_size - Gets the current size. */
void tty_size(unsigned *columns, unsigned *lines);
/** tty_wait - Waits up to @seconds for a byte. Returns it, TTY_TIMEOUT or TTY_EOF. */
int tty_wait(double seconds) MUST_CHECK;
/** tty_draw - Shows as many lines of @text as fit. Returns 0 or a negative errno. */
int tty_draw(const char *text) MUST_CHECK;
/**
 * tty_cut - Returns how many bytes of a line fit into @columns, without cutting a UTF-8 character.
 */
size_t tty_cut(const char *line, size_t len, unsigned columns);

#endif
