/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line per event on standard error, with a prefix that names the connection.
 *
 * What level a line has:
 *
 *	error    the daemon cannot do what it is for, or will not start
 *	warning  somebody has to act, or will: a limit is reached, a server is away, an address is turned away
 *	info     clients that make Calls come and go, the server is back, somebody asked for something
 *	debug    how it came to all that; what scans and health checks do, who never make a Call
 *
 * What is told of once for all (a server's outage, Calls that wait) is not told again by each connection.
 *
 * On the journal's stream a line begins with its sd-daemon level ("<6>"), elsewhere with time and level; where the
 * journal's socket is here too, a line becomes an entry with fields (daemon/base/log_writer.h). Control characters
 * and bytes beyond ASCII are escaped, whoever they come from.
 *
 * Lines that a peer can provoke go through a token bucket, of which a service has one for each kind of line. What is
 * left out is counted, and log_tell_left_out() says how much and of which kind; the daemon's main loop calls that
 * each LOG_TELL_US, so that it is told within that time, and no other thread logs more than its own lines. Notes of
 * connections have one bucket for a service too, of which a connection may take LOG_SHARE_BURST lines at once and
 * then one each LOG_SHARE_REFILL_US: a twelfth of what flows back. So one that is noisy takes a tenth of the bucket
 * and leaves the others the rest, and a dozen have to be noisy for long before they silence anybody.
 *
 * Lines are written at once until log_start_writer(), then by a thread of its own: whoever logs waits for nobody.
 * What standard error does not take is dropped and counted, and said when it takes lines again.
 *
 * Concurrency: any thread; one mutex orders the lines and guards the buckets.
 */
#ifndef DAEMON_BASE_LOG_H
#define DAEMON_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "base/compiler.h"
#include "daemon/base/log_line.h"

#define LOG_QUEUE_BYTES     (1024u * 1024u)

#define LOG_LIMIT_BURST     10u       /* lines at once … */
#define LOG_LIMIT_REFILL_US 5000000u  /* … and one more in each five seconds */
#define LOG_SHARE_BURST     10u       /* notes of one connection at once … */
#define LOG_SHARE_REFILL_US 60000000u /* … and one more in each minute */
#define LOG_TELL_US         5000000u  /* how long what was left out goes untold */

/* The tokens of a bucket; all zero is a full one. */
struct log_tokens {
	unsigned spent;       /* of the burst */
	uint64_t refilled_us; /* when the last one came back */
};

/*
 * A bucket for lines of one kind; all zero will do. Of those left out it is said "exports: 290 more refused in 5 s:
 * address is not allowed", of whose, what and why.
 */
struct log_limit {
	const char *whose;  /* the service; NULL: nobody's in particular */
	const char *what;   /* has happened: "refused"; NULL: "such lines were left out" */
	const char *why;    /* or what else is said behind it; NULL: nothing */
	const char *reason; /* that of log_ctx; NULL: none */
	unsigned burst;     /* 0: LOG_LIMIT_BURST */
	uint64_t refill_us; /* 0: LOG_LIMIT_REFILL_US */
	bool repeats;       /* its lines say the same again: what is left out is not worth a word */

	struct log_tokens tokens;
	uint64_t suppressed;  /* lines left out and not told yet … */
	uint64_t since_us;    /* … the first of them … */
	enum log_level level; /* … and the gravest */
};

/* Of a connection. */
struct log_ctx {
	struct log_about about;
	struct log_limit *notes; /* the bucket of its notes … */
	struct log_tokens share; /* … and what it may take of that */
};

/* What is known of who has no connection, for one line: LOG_ABOUT(.service = name, .upstream = uri). */
#define LOG_ABOUT(...) (&(const struct log_ctx){.about = {__VA_ARGS__}})

/**
 * log_ctx_init - a prefix of the service's name, the connection's number and its client
 * @notes: the bucket that the notes of all connections share, and which outlives this one
 */
void log_ctx_init(struct log_ctx *ctx, const char *service, uint64_t id,
		  const struct sockaddr *client, struct log_limit *notes);

/** log_ctx_because - the same, for a line that has a reason too. */
struct log_ctx log_ctx_because(const struct log_ctx *ctx, const char *reason);

/** log_write - log one event; @ctx may be NULL. Use the macros below. */
void PRINTF_LIKE(3, 4)
	log_write(enum log_level level, const struct log_ctx *ctx, const char *format, ...);
/** log_write_limited - log one event of a kind that peers can provoke; see LOG_LIMIT_BURST. */
void PRINTF_LIKE(4, 5) log_write_limited(enum log_level level, struct log_limit *limit,
					 const struct log_ctx *ctx, const char *format, ...);

/** log_write_note - log what the peer of a connection did, within the connection's share of the notes. */
void PRINTF_LIKE(2, 3) log_write_note(struct log_ctx *ctx, const char *format, ...);

/**
 * log_leaves_out - whether such a line would be left out now; then it is counted as one that was
 *
 * For a line that takes work to make: to be asked first.
 */
bool log_leaves_out(enum log_level level, struct log_limit *limit);

/** log_tell_left_out - say of each of @n buckets how many lines were left out since it was last said, if any were. */
void log_tell_left_out(struct log_limit *limits, size_t n);

#define log_at(level, ctx, ...)                                                                    \
	do {                                                                                       \
		if (log_is_on(level))                                                              \
			log_write(level, ctx, __VA_ARGS__);                                        \
	} while (0)
#define log_error(ctx, ...)   log_at(LOG_LEVEL_ERROR, ctx, __VA_ARGS__)
#define log_warning(ctx, ...) log_at(LOG_LEVEL_WARNING, ctx, __VA_ARGS__)
#define log_info(ctx, ...)    log_at(LOG_LEVEL_INFO, ctx, __VA_ARGS__)
#define log_debug(ctx, ...)   log_at(LOG_LEVEL_DEBUG, ctx, __VA_ARGS__)
/* What peers can provoke. */
#define log_limited(level, limit, ctx, ...)                                                        \
	do {                                                                                       \
		if (log_is_on(level))                                                              \
			log_write_limited(level, limit, ctx, __VA_ARGS__);                         \
	} while (0)
/* What the peer of a connection did. */
#define log_note(ctx, ...)                                                                         \
	do {                                                                                       \
		if (log_is_on(LOG_LEVEL_INFO))                                                     \
			log_write_note(ctx, __VA_ARGS__);                                          \
	} while (0)

/** log_is_on - whether lines of this level are written. */
bool log_is_on(enum log_level level);
/** log_set_level - write this level and those above it; LOG_LEVEL_INFO at first; at any time. */
void log_set_level(enum log_level level);
/** log_demand_level - the same, for the command line: the configuration file does not change it. */
void log_demand_level(enum log_level level);
/** log_configure_level - set the level of the file at the start, unless another one is demanded. */
void log_configure_level(enum log_level level);
/** log_reconfigure_level - the same at a reload, and say so. */
void log_reconfigure_level(enum log_level level);
/** log_change_level - set the level and say why, if the level before or the new one lets that pass. */
void log_change_level(enum log_level level, const char *why);
/** log_level - the level set. */
enum log_level log_level(void);
/** log_level_parse - the level of that name. Returns 0 or -EINVAL. */
int log_level_parse(const char *name, enum log_level *level) MUST_CHECK;

/**
 * log_start_writer - have a thread write the lines from now on; before others log
 *
 * Up to LOG_QUEUE_BYTES wait while standard error takes none. Returns 0 or -ENOMEM.
 */
int log_start_writer(void) MUST_CHECK;
/**
 * log_stop_writer - write what waits, for @timeout_ms at most, and go on without the thread
 *
 * For the end of the process: what could not be written then is lost. Nobody else logs any more.
 */
void log_stop_writer(unsigned timeout_ms);
/** log_lines_dropped - lines that were lost since the start because standard error did not take them. */
uint64_t log_lines_dropped(void);

/* Where lines go and what time it is; standard error and the clocks unless a test says otherwise. */
struct log_output {
	/* @line has its newline; the mutex is held. Returns false if the line is lost. */
	bool (*write)(void *arg, const char *line, size_t len);
	void *arg;
	enum log_form form;
	uint64_t (*now_us)(clockid_t clock);
};

/** log_set_output - for tests: before other threads log; NULL restores standard error. */
void log_set_output(const struct log_output *output);

#endif
