/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of top, and the keys that change them. */
#ifndef DAEMON_CTL_TOP_VIEW_H
#define DAEMON_CTL_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/ctl/call_totals.h"

#define TOP_TYPED_BYTES 128u /* of an answer to a prompt, e.g. a service name */
#define TOP_MIN_DELAY_S 0.1
#define TOP_MAX_DELAY_S 3600.0
#define TOP_DELAY_S     2.0 /* default */
#define TOP_MAX_ROWS    1000000u

enum top_kind { TOP_OPERATIONS, TOP_CONNECTIONS, TOP_KINDS };

/* Texts of rows; rows can be sorted by them. */
enum { TOP_TEXT_SERVICE, TOP_TEXT_NAME, TOP_TEXTS };

/* Values of operations, then of connections. Rates are per second, NAN while unknown. */
enum {
	TOP_CALLS,
	TOP_ERRORS,
	TOP_BYTES, /* in both directions */
	TOP_MEAN,
	TOP_P99,
	TOP_STAGES, /* seconds spent in each stage */
	TOP_IN_FLIGHT = TOP_ERRORS,
	TOP_OLDEST,
	TOP_FROM,
	TOP_TO,
	TOP_NUMBER,
	TOP_VALUES = TOP_STAGES + CALL_TOTALS_STAGES,
};

struct top_column {
	const char *title;
	bool text;      /* sorted from a to z; numbers from the largest */
	unsigned index; /* of the texts or the values */
};

enum top_prompt { TOP_NO_PROMPT, TOP_PROMPT_DELAY, TOP_PROMPT_ROWS, TOP_PROMPT_SERVICE };

struct top_view {
	enum top_kind kind;
	unsigned sort[TOP_KINDS]; /* a column */
	bool reverse[TOP_KINDS];
	bool idle; /* also show idle rows */
	bool help; /* show the help instead */
	unsigned rows;
	double delay_s;
	char service[TOP_TYPED_BYTES]; /* show only this one; "": all */
	enum top_prompt prompt;
	char typed[TOP_TYPED_BYTES];
	const char *note;   /* error of the last input; NULL: none */
	unsigned in_escape; /* bytes read of a key's escape sequence */
};

enum top_action {
	TOP_NOTHING,
	TOP_DRAW,    /* redraw */
	TOP_REFRESH, /* redraw with a new sample */
	TOP_QUIT,
};

/** top_view_init - Sorts operations by Calls, and connections by their oldest Call. */
void top_view_init(struct top_view *view);
/** top_columns - Returns the columns of a kind; sets @count. */
const struct top_column *top_columns(enum top_kind kind, unsigned *count);
/** top_sorted_by - Returns the column that sorts the rows. */
const struct top_column *top_sorted_by(const struct top_view *view);
/** top_key - Handles a byte from the terminal. Returns what to do. */
enum top_action top_key(struct top_view *view, unsigned char key);
/** top_prompt_text - Returns the text of the open prompt, or NULL. */
const char *top_prompt_text(const struct top_view *view);

/**
 * top_parse_delay - Parses TOP_MIN_DELAY_S to TOP_MAX_DELAY_S seconds. Returns false on a syntax
 * error.
 */
bool top_parse_delay(const char *text, double *delay_s);
/** top_parse_count - Parses 1 to TOP_MAX_ROWS. Returns false on a syntax error. */
bool top_parse_count(const char *text, unsigned *count);

#endif
