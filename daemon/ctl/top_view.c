// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/top_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define ESCAPE    0x1b
#define BACKSPACE 0x08
#define DELETE    0x7f

static const struct top_column operations[] = {
	{"SERVICE", true, TOP_TEXT_SERVICE},
	{"OPERATION", true, TOP_TEXT_NAME},
	{"CALLS/S", false, TOP_CALLS},
	{"ERR/S", false, TOP_ERRORS},
	{"MIB/S", false, TOP_BYTES},
	{"MEAN", false, TOP_MEAN},
	{"P99", false, TOP_P99},
	{"RECEIVE", false, TOP_STAGES},
	{"MEMORY", false, TOP_STAGES + 1},
	{"CREDIT", false, TOP_STAGES + 2},
	{"SERVER", false, TOP_STAGES + 3},
	{"CLIENT", false, TOP_STAGES + 4},
};

static const struct top_column connections[] = {
	{"ID", false, TOP_NUMBER},           {"CLIENT", true, TOP_TEXT_NAME},
	{"SERVICE", true, TOP_TEXT_SERVICE}, {"CALLS/S", false, TOP_CALLS},
	{"CALLS", false, TOP_IN_FLIGHT},     {"OLDEST", false, TOP_OLDEST},
	{"MIB IN", false, TOP_FROM},         {"MIB OUT", false, TOP_TO},
};

#define SORT_BY_CALLS  2
#define SORT_BY_OLDEST 5

void top_view_init(struct top_view *view)
{
	*view = (struct top_view){
		.sort = {[TOP_OPERATIONS] = SORT_BY_CALLS, [TOP_CONNECTIONS] = SORT_BY_OLDEST},
		.rows = TOP_MAX_ROWS,
		.delay_s = TOP_DELAY_S,
	};
}

const struct top_column *top_columns(enum top_kind kind, unsigned *count)
{
	*count = kind == TOP_OPERATIONS ? ARRAY_SIZE(operations) : ARRAY_SIZE(connections);
	return kind == TOP_OPERATIONS ? operations : connections;
}

const struct top_column *top_sorted_by(const struct top_view *view)
{
	unsigned count;

	return &top_columns(view->kind, &count)[view->sort[view->kind]];
}

const char *top_prompt_text(const struct top_view *view)
{
	static const char *const texts[] = {
		[TOP_NO_PROMPT] = NULL,
		[TOP_PROMPT_DELAY] = "Refresh interval in seconds: ",
		[TOP_PROMPT_ROWS] = "Number of rows (empty: as many as fit): ",
		[TOP_PROMPT_SERVICE] = "Service (empty: all): ",
	};

	return texts[view->prompt];
}

bool top_parse_delay(const char *text, double *delay_s)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	/* Comparisons with NAN are false. */
	if (errno || end == text || *end || !(value >= TOP_MIN_DELAY_S && value <= TOP_MAX_DELAY_S))
		return false;
	*delay_s = value;
	return true;
}

bool top_parse_count(const char *text, unsigned *count)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || strchr(text, '-') || !value || value > TOP_MAX_ROWS)
		return false;
	*count = (unsigned)value;
	return true;
}

/* ---- what is typed at a prompt ---- */

static enum top_action answered(struct top_view *view)
{
	enum top_prompt prompt = view->prompt;

	view->prompt = TOP_NO_PROMPT;
	switch (prompt) {
	case TOP_PROMPT_DELAY:
		if (*view->typed && !top_parse_delay(view->typed, &view->delay_s))
			view->note = "Not a number of seconds from 0.1 to 3600.";
		return TOP_DRAW;
	case TOP_PROMPT_ROWS:
		if (!*view->typed)
			view->rows = TOP_MAX_ROWS;
		else if (!top_parse_count(view->typed, &view->rows))
			view->note = "Not a number of rows.";
		return TOP_DRAW;
	default:
		strcpy(view->service, view->typed);
		return TOP_REFRESH;
	}
}

static enum top_action typed(struct top_view *view, unsigned char key)
{
	size_t len = strlen(view->typed);

	if (key == '\r' || key == '\n')
		return answered(view);
	if (key == BACKSPACE || key == DELETE) {
		view->typed[len ? len - 1 : 0] = '\0';
		return TOP_DRAW;
	}
	/* Service names have no other characters, and always fit. */
	if (key < ' ' || key > '~' || len + 1 >= TOP_TYPED_BYTES)
		return TOP_NOTHING;
	view->typed[len] = (char)key;
	view->typed[len + 1] = '\0';
	return TOP_DRAW;
}

static enum top_action prompt(struct top_view *view, enum top_prompt what)
{
	view->prompt = what;
	view->typed[0] = '\0';
	return TOP_DRAW;
}

/* ---- single keys ---- */

static enum top_action sort_by_next(struct top_view *view, bool to_the_right)
{
	unsigned count, *sort = &view->sort[view->kind];

	top_columns(view->kind, &count);
	*sort = (*sort + (to_the_right ? 1 : count - 1)) % count;
	return TOP_DRAW;
}

static enum top_action single(struct top_view *view, unsigned char key)
{
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case 'h':
	case '?':
		view->help = true;
		return TOP_DRAW;
	case ' ':
	case '\r':
	case '\n':
		return TOP_REFRESH;
	case '<':
	case '>':
		return sort_by_next(view, key == '>');
	case 'R':
		view->reverse[view->kind] = !view->reverse[view->kind];
		return TOP_DRAW;
	case 'i':
		view->idle = !view->idle;
		return TOP_DRAW;
	case 'c':
	case '\t':
		view->kind = view->kind == TOP_OPERATIONS ? TOP_CONNECTIONS : TOP_OPERATIONS;
		return TOP_REFRESH;
	case 'd':
	case 's':
		return prompt(view, TOP_PROMPT_DELAY);
	case 'n':
	case '#':
		return prompt(view, TOP_PROMPT_ROWS);
	case 'u':
	case 'o':
		return prompt(view, TOP_PROMPT_SERVICE);
	default:
		return TOP_NOTHING;
	}
}

/* Closes any prompt. */
static enum top_action escape(struct top_view *view)
{
	view->in_escape = 1;
	view->prompt = TOP_NO_PROMPT;
	view->help = false;
	return TOP_DRAW;
}

/* Of the keys that send several bytes only left and right arrow have a meaning. */
static unsigned char plain_key(struct top_view *view, unsigned char key)
{
	if (view->in_escape == 1 && (key == '[' || key == 'O')) {
		view->in_escape = 2;
		return 0;
	}
	if (view->in_escape == 2) {
		if (key < '@' || key > '~')
			return 0;
		view->in_escape = 0;
		return key == 'C' ? '>' : key == 'D' ? '<' : 0;
	}
	view->in_escape = 0;
	return key;
}

enum top_action top_key(struct top_view *view, unsigned char key)
{
	key = plain_key(view, key);
	if (!key)
		return TOP_NOTHING;
	view->note = NULL;
	if (key == ESCAPE)
		return escape(view);
	if (view->prompt)
		return typed(view, key);
	if (view->help) {
		view->help = false;
		return key == 'q' ? TOP_QUIT : TOP_DRAW;
	}
	return single(view, key);
}
