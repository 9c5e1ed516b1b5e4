/* SPDX-License-Identifier: BSD-3-Clause */
/* What top shows, and what its keys change of that. */
#ifndef DAEMON_CTL_TOP_VIEW_H
#define DAEMON_CTL_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/ctl/call_sums.h"

#define TOP_TYPED_BYTES 128u /* of an answer to a prompt, a service's name among them */
#define TOP_MIN_DELAY_S 0.1
#define TOP_MAX_DELAY_S 3600.0
#define TOP_DELAY_S     2.0 /* unless something else is asked for */
#define TOP_MAX_ROWS    1000000u

enum top_kind { TOP_OPERATIONS, TOP_CONNECTIONS, TOP_KINDS };

/* What rows have, and can be sorted by. */
enum { TOP_TEXT_SERVICE, TOP_TEXT_NAME, TOP_TEXTS };

/* Of operations, then of connections; rates are by the second, and NAN while they are not known. */
enum {
	TOP_CALLS,
	TOP_ERRORS,
	TOP_BYTES, /* both ways */
	TOP_MEAN,
	TOP_P99,
	TOP_STAGES, /* seconds that Calls were in each */
	TOP_IN_FLIGHT = TOP_ERRORS,
	TOP_OLDEST,
	TOP_FROM,
	TOP_TO,
	TOP_NUMBER,
	TOP_VALUES = TOP_STAGES + CALL_SUMS_STAGES,
};

struct top_column {
	const char *title;
	bool text;      /* from a to z; numbers from the largest */
	unsigned index; /* of the texts or the values */
};

enum top_prompt { TOP_NO_PROMPT, TOP_PROMPT_DELAY, TOP_PROMPT_ROWS, TOP_PROMPT_SERVICE };

struct top_view {
	enum top_kind kind;
	unsigned sort[TOP_KINDS]; /* a column */
	bool reverse[TOP_KINDS];
	bool idle; /* rows in which nothing happens are shown, too */
	bool help; /* is shown instead */
	unsigned rows;
	double delay_s;
	char service[TOP_TYPED_BYTES]; /* alone; "": all */
	enum top_prompt prompt;
	char typed[TOP_TYPED_BYTES];
	const char *note;   /* what was wrong with what was typed last; NULL: nothing */
	unsigned in_escape; /* how much of a key's sequence has come */
};

enum top_act {
	TOP_NOTHING,
	TOP_DRAW, /* it looks different */
	TOP_ASK,  /* … and the daemon is to be asked at once */
	TOP_QUIT,
};

/** top_view_init - operations by their Calls, connections by their oldest ones. */
void top_view_init(struct top_view *view);
/** top_columns - those of a kind, @count of them. */
const struct top_column *top_columns(enum top_kind kind, unsigned *count);
/** top_sorted_by - the one by which it is sorted. */
const struct top_column *top_sorted_by(const struct top_view *view);
/** top_key - a byte that the terminal sent. */
enum top_act top_key(struct top_view *view, unsigned char key);
/** top_prompt_text - what is asked for, or NULL. */
const char *top_prompt_text(const struct top_view *view);

/** top_parse_delay - seconds, TOP_MIN_DELAY_S to TOP_MAX_DELAY_S. Returns whether they are. */
bool top_parse_delay(const char *text, double *delay_s);
/** top_parse_count - a number, 1 to TOP_MAX_ROWS. Returns whether it is. */
bool top_parse_count(const char *text, unsigned *count);

#endif
