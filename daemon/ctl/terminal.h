/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal as a screen with keys: standard input and output, one of them.
 *
 * However the process ends or is stopped meanwhile, the terminal is what it was. It is taken by ANSI escape sequences that
 * every terminal of today knows.
 */
#ifndef DAEMON_CTL_TERMINAL_H
#define DAEMON_CTL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define TERMINAL_TIME  (-1) /* nothing came in time, or the screen has another size */
#define TERMINAL_ENDED (-2) /* there is no more of it */

/** terminal_is_there - whether there is one that understands this: both are terminals, and TERM is not "dumb". */
bool terminal_is_there(void);
/** terminal_open - take it. Returns 0 or a negative errno. */
int terminal_open(void) MUST_CHECK;
/** terminal_close - give it back as it was. */
void terminal_close(void);
/** terminal_size - how large it is now. */
void terminal_size(unsigned *columns, unsigned *lines);
/** terminal_wait - for a byte, up to @seconds. Returns it, TERMINAL_TIME or TERMINAL_ENDED. */
int terminal_wait(double seconds) MUST_CHECK;
/** terminal_draw - show these lines, as much of them as there is room for. Returns 0 or a negative errno. */
int terminal_draw(const char *text) MUST_CHECK;
/** terminal_cut - how many bytes at the beginning of a line fit into so many columns; UTF-8 is not cut in a letter. */
size_t terminal_cut(const char *line, size_t len, unsigned columns);

#endif
