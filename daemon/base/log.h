/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line per event on standard error, with a prefix that names the connection.
 *
 * Levels:
 *
 *	error    the daemon cannot do its task, or will not start
 *	warning  problems that need attention: a limit is reached, a server is down or up again
 *	info     clients that send Calls connect and disconnect; commands of an administrator
 *	debug    details; port scans and health checks, which never send a Call
 *
 * An event that concerns many connections (an outage, late Calls) is logged once, not again by each
 * connection.
 *
 * Standard error decides the form of a line:
 *
 *	the journal, with its socket     an entry with fields (daemon/base/log_writer.h)
 *	the journal, without its socket  a line that begins with the sd-daemon level: "<6>"
 *	anything else                    a line that begins with time and level
 *
 * Control characters and bytes beyond ASCII are always escaped.
 *
 * Lines that a peer can provoke go through a token bucket; a service has one for each kind of line.
 * Suppressed lines are counted. The main loop logs their number, by kind, every LOG_REPORT_US
 * (log_report_suppressed()).
 *
 * A *note* is a line about something that the peer of a connection did. The notes of all
 * connections of a service share one bucket of SERVICE_LINES_BURST lines. One connection can use a
 * tenth of the bucket and a twelfth of its refill (LOG_SHARE_*). So one noisy connection cannot
 * suppress the notes of the others.
 *
 * After log_start_writer() a thread writes the lines, so logging never blocks. Lines that standard
 * error does not accept are dropped. Their number is logged when it accepts lines again.
 *
 * Threads: any; one mutex orders the lines and guards the buckets.
 */
#ifndef DAEMON_BASE_LOG_H
#define DAEMON_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "base/compiler.h"
#include "daemon/base/log_format.h"

#define LOG_QUEUE_BYTES     (1024u * 1024u)

#define LOG_LIMIT_BURST     10u       /* lines in a burst … */
#define LOG_LIMIT_REFILL_US 5000000u  /* … and one more every five seconds */
#define LOG_SHARE_BURST     10u       /* notes of one connection in a burst … */
#define LOG_SHARE_REFILL_US 60000000u /* … and one more every minute */
#define LOG_REPORT_US       5000000u  /* interval of the reports on suppressed lines */

/* The tokens of a bucket; all zero is a full bucket. */
struct log_tokens {
	unsigned spent;       /* of the burst */
	uint64_t refilled_us; /* time of the last refill */
};

/*
 * A bucket for lines of one kind; all zero uses the defaults. The report on suppressed lines
 * contains whose, what and why: "exports: 290 more refused in 5 s: address is not allowed".
 */
struct log_limit {
	const char *owner;  /* the service; NULL: none */
	const char *what;   /* the event: "refused"; NULL: "such lines suppressed" */
	const char *why;    /* the reason or a comment; NULL: none */
	const char *reason; /* as in log_ctx; NULL: none */
	unsigned burst;     /* 0: LOG_LIMIT_BURST */
	uint64_t refill_us; /* 0: LOG_LIMIT_REFILL_US */
	bool repeats;       /* its lines have the same text: suppressed ones are not reported */

	struct log_tokens tokens;
	uint64_t suppressed;  /* suppressed lines not reported yet … */
	uint64_t since_us;    /* … time of the first … */
	enum log_level level; /* … and the most severe level */
};

/* The log context of a connection. */
struct log_ctx {
	struct log_about about;
	struct log_limit *notes; /* bucket of its notes … */
	struct log_tokens share; /* … and its share of that */
};

/* A context without a connection, for one line: LOG_ABOUT(.service = name, .upstream = uri). */
#define LOG_ABOUT(...) (&(const struct log_ctx){.about = {__VA_ARGS__}})

/**
 * log_ctx_init - Sets a prefix with the service's name, the connection's number and its client
 * @notes: the bucket for notes that all connections share; outlives this
 */
void log_ctx_init(struct log_ctx *ctx, const char *service, uint64_t id,
		  const struct sockaddr *client, struct log_limit *notes);

/** log_ctx_because - Returns the context for a line with a reason. */
struct log_ctx log_ctx_because(const struct log_ctx *ctx, const char *reason);

/** log_write - Logs one event; @ctx can be NULL. Use the macros below. */
void PRINTF_LIKE(3, 4)
	log_write(enum log_level level, const struct log_ctx *ctx, const char *format, ...);
/** log_write_limited - Logs one event of a kind that peers can provoke; see LOG_LIMIT_BURST. */
void PRINTF_LIKE(4, 5) log_write_limited(enum log_level level, struct log_limit *limit,
					 const struct log_ctx *ctx, const char *format, ...);

/**
 * log_write_note - Logs what the peer of a connection did, within the connection's share of notes.
 */
void PRINTF_LIKE(2, 3) log_write_note(struct log_ctx *ctx, const char *format, ...);

/**
 * log_is_suppressed - Returns whether such a line would be suppressed now; if so, counts it as
 * suppressed
 *
 * Call it before composing an expensive line.
 */
bool log_is_suppressed(enum log_level level, struct log_limit *limit);

/**
 * log_report_suppressed - Logs how many lines each of @n buckets suppressed since the last report.
 */
void log_report_suppressed(struct log_limit *limits, size_t n);

#define log_at(level, ctx, ...)                                                                    \
	do {                                                                                       \
		if (log_is_on(level))                                                              \
			log_write(level, ctx, __VA_ARGS__);                                        \
	} while (0)
#define log_error(ctx, ...)   log_at(LOG_LEVEL_ERROR, ctx, __VA_ARGS__)
#define log_warning(ctx, ...) log_at(LOG_LEVEL_WARNING, ctx, __VA_ARGS__)
#define log_info(ctx, ...)    log_at(LOG_LEVEL_INFO, ctx, __VA_ARGS__)
#define log_debug(ctx, ...)   log_at(LOG_LEVEL_DEBUG, ctx, __VA_ARGS__)
/* For lines that peers can provoke. */
#define log_limited(level, limit, ctx, ...)                                                        \
	do {                                                                                       \
		if (log_is_on(level))                                                              \
			log_write_limited(level, limit, ctx, __VA_ARGS__);                         \
	} while (0)
/* For what the peer of a connection did. */
#define log_note(ctx, ...)                                                                         \
	do {                                                                                       \
		if (log_is_on(LOG_LEVEL_INFO))                                                     \
			log_write_note(ctx, __VA_ARGS__);                                          \
	} while (0)

/** log_is_on - Returns whether lines of this level are written. */
bool log_is_on(enum log_level level);
/**
 * log_set_level - Writes this level and more severe ones; initially LOG_LEVEL_INFO. Call at any
 * time.
 */
void log_set_level(enum log_level level);
/**
 * log_demand_level - Sets the level from the command line: the configuration file does not change
 * it.
 */
void log_demand_level(enum log_level level);
/** log_configure_level - Sets the level from the file at start, unless the command line set one. */
void log_configure_level(enum log_level level);
/** log_reconfigure_level - Sets the level from the file at a reload, and logs that. */
void log_reconfigure_level(enum log_level level);
/** log_change_level - Sets the level and logs why, if the old or the new level shows that line. */
void log_change_level(enum log_level level, const char *why);
/** log_level - Returns the level. */
enum log_level log_level(void);
/** log_level_parse - Gets the level of that name. Returns 0 or -EINVAL. */
int log_level_parse(const char *name, enum log_level *level) MUST_CHECK;

/**
 * log_start_writer - Starts the thread that writes all lines from now on; before other threads log
 *
 * Up to LOG_QUEUE_BYTES wait while standard error blocks. Returns 0 or -ENOMEM.
 */
int log_start_writer(void) MUST_CHECK;
/**
 * log_stop_writer - Writes the waiting lines, for at most @timeout_ms, and stops the thread
 *
 * For the end of the process, when no other thread logs any more. Lines that are not written by
 * then are lost.
 */
void log_stop_writer(unsigned timeout_ms);
/**
 * log_lines_dropped - Returns how many lines were lost because standard error did not accept them.
 */
uint64_t log_lines_dropped(void);

/* The output and the clock; standard error and the system's clocks by default. */
struct log_output {
	/* @line ends with a newline; the mutex is held. Returns false if the line is lost. */
	bool (*write)(void *arg, const char *line, size_t len);
	void *arg;
	enum log_form form;
	uint64_t (*now_us)(clockid_t clock);
};

/**
 * log_set_output - For tests: sets the output before other threads log; NULL restores standard
 * error.
 */
void log_set_output(const struct log_output *output);

#endif
