/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks whether a server is up, and logs its outages.
 *
 * A thousand clients that reconnect twice per second to a dead server would flood the log. So this
 * module counts the failures of all clients. It logs a warning:
 *
 *  - when the server goes down;
 *  - once a minute while attempts fail, sooner if the cause changes;
 *  - when the server is up again;
 *  - for a flapping server, once a minute.
 *
 * Only attempts to connect change the state: a server without attempts stays unknown, or down. A
 * close without a Reply does not count while the server serves other clients: the client's own Call
 * can be the cause.
 *
 * Two other kinds of failure can also concern a single client: after it has sent a Call, and on a
 * connection from its own address (source = "client"). Such a failure only makes the server
 * doubtful, and the proxy checks it with a NULL Call. The server is down if that check fails, or if
 * another client has the same failure within SERVER_HEALTH_DOUBT_US and no client has had a Reply
 * in between. For this, IPv4 clients differ by address and IPv6 clients by /64 prefix; 127/8 and
 * ::1 are one client.
 *
 * A server that is down because of two clients stays down for SERVER_HEALTH_DOUBT_US after the last
 * such failure, even if it replies to NULL: it can close for every other Call. After that it
 * becomes doubtful once per SERVER_HEALTH_DOUBT_US, until it replies to NULL or to a client. Then
 * it is up. These checks are needed because the proxy can keep clients away from a server that is
 * down.
 *
 * Threads: any; it has its own lock.
 */
#ifndef DAEMON_SERVICE_SERVER_HEALTH_H
#define DAEMON_SERVICE_SERVER_HEALTH_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/base/address.h"
#include "daemon/config/config_value.h"
#include "leg/leg.h"

/* interval of log lines about a server that is down or flapping */
#define SERVER_HEALTH_LOG_US 60000000u
/*
 * An outage of this length is always logged. A server also counts as up again if it replies to
 * connected clients and no attempt has failed for this long.
 */
#define SERVER_HEALTH_SURE_US 15000000u
#define SERVER_HEALTH_CAUSES  3u /* new causes logged before that interval, per outage */
/* a second client must fail within this time */
#define SERVER_HEALTH_DOUBT_US 60000000u

enum server_reach { SERVER_UNKNOWN, SERVER_OK, SERVER_DOWN };

/* The current state, for display. */
struct server_health_info {
	enum server_reach reach;
	uint64_t age_us;               /* of `reach`; undefined for SERVER_UNKNOWN */
	char addr[ADDRESS_TEXT_BYTES]; /* last address tried; empty: the name has none */
	char error[LEG_DETAIL_BYTES];  /* SERVER_DOWN: the last error */
	uint64_t failed;               /* SERVER_DOWN: failed attempts since then */
	unsigned waiting;              /* clients without a Reply so far */
	uint64_t silent_us;            /* since its last Reply; UINT64_MAX: it has sent none */
};

struct server_health {
	const char *service;
	char uri[CONFIG_URI_TEXT_BYTES];
	bool is_address; /* the URI contains the address, so log lines omit it */
	bool quiet;      /* never log; set by the owner before the first attempt */
	atomic_uint waiting;
	atomic_uint served;   /* connections with at least one Reply */
	atomic_bool down;     /* `reach` is SERVER_DOWN, for server_health_is_down() */
	atomic_bool replied;  /* a Reply has arrived since the last server_health_tick() */
	atomic_bool doubtful; /* needs a check: server_health_take_doubt() */
	pthread_mutex_t lock; /* guards what follows */
	enum server_reach reach;
	uint64_t since_us;
	uint64_t replied_us;          /* the last server_health_tick() after a Reply; 0: none */
	struct sockaddr_storage addr; /* AF_UNSPEC: none */
	enum leg_close why;
	char error[LEG_DETAIL_BYTES];
	uint64_t failed;    /* failed attempts since SERVER_DOWN … */
	uint64_t failed_us; /* … and the time of the last */
	bool logged_down;   /* the outage was logged */
	bool logged_once;
	uint64_t logged_us;                  /* when the last line was logged … */
	uint64_t logged_failed;              /* … its number of attempts … */
	char logged_error[LEG_DETAIL_BYTES]; /* … and its cause */
	unsigned causes;                     /* new causes logged in this outage */
	unsigned unlogged_outages;           /* outages since then that were not logged */
	bool has_suspect;        /* a client failed, and no client has had a Reply since … */
	struct in6_addr suspect; /* … that client's address … */
	uint64_t suspect_us;     /* … the time … */
	enum leg_close suspect_why;
	char suspect_error[LEG_DETAIL_BYTES]; /* … and the reason */
	bool down_by_clients;                 /* down because of two clients … */
	uint64_t down_by_clients_us;          /* … when that last happened … */
	/* … and when it last became doubtful because of that */
	uint64_t doubtful_again_us;
};

/**
 * server_health_init - Initializes it, in SERVER_UNKNOWN
 * @service, @uri: from the configuration, which outlives it
 */
void server_health_init(struct server_health *state, const char *service,
			const struct config_uri *uri);
/** server_health_fini - Frees it. Accepts an all-zero @state. */
void server_health_fini(struct server_health *state);

/** server_health_wait_start - Counts a client that waits for the server. */
void server_health_wait_start(struct server_health *state);
/** server_health_wait_end - Stops counting that client: it has a Reply or has disconnected. */
void server_health_wait_end(struct server_health *state);

/**
 * server_health_failed - Records a client's attempt that has failed at all addresses of the server
 * @addr:   the last address; NULL: the name has none
 * @why:    LEG_CLOSE_LOCAL, _RESOURCES, _NO_SOURCE_PORT, _NO_SOURCE_ADDRESS, _SHUTDOWN and
 *          _OWN_UPSTREAM do not count: they are not the server's fault
 * @detail: more about the cause; can be empty
 *
 * Returns whether the failure counts. If so, this module logs it and the caller need not.
 */
bool server_health_failed(struct server_health *state, const struct sockaddr *addr,
			  enum leg_close why, const char *detail, uint64_t now_us);
/**
 * server_health_unreached - Like server_health_failed(), for a failure that can concern one client
 * only
 * @client: its address, if the attempt came from that address; else NULL
 *
 * With @client it counts only if another client had the same failure, or the server is already
 * down; otherwise the server becomes doubtful. LEG_CLOSE_SILENT, _NO_ADDRESS and _NO_MOUNT always
 * count: they do not depend on the client.
 */
bool server_health_unreached(struct server_health *state, const struct sockaddr *addr,
			     const struct sockaddr *client, enum leg_close why, const char *detail,
			     uint64_t now_us);
/**
 * server_health_unanswered - Records a client's connection that closed without any Reply
 * @client: its address, if one of its Calls was sent, which can be the cause; else NULL
 *
 * Like server_health_unreached(), but counts only if the server serves no other connection.
 */
bool server_health_unanswered(struct server_health *state, const struct sockaddr *addr,
			      const struct sockaddr *client, enum leg_close why, const char *detail,
			      uint64_t now_us);
/** server_health_take_doubt - Returns true once after the server has become doubtful. */
static inline bool server_health_take_doubt(struct server_health *state)
{
	return atomic_load_explicit(&state->doubtful, memory_order_relaxed) &&
	       atomic_exchange(&state->doubtful, false);
}
/** server_health_put_doubt - Undoes server_health_take_doubt(), if no check could be started. */
static inline void server_health_put_doubt(struct server_health *state)
{
	atomic_store(&state->doubtful, true);
}
/**
 * server_health_check_failed - Records that the proxy's NULL check has failed for @why
 * @error: more about the cause, as in server_health_failed()
 * @logged_text:  set to the logged text; if clients had the same failure, it is the text of theirs
 *
 * Returns whether it is the server's fault.
 */
bool server_health_check_failed(struct server_health *state, enum leg_close why, const char *error,
				uint64_t now_us, char logged_text[LEG_DETAIL_BYTES]);
/**
 * server_health_check_passed - Records that the server has replied to the proxy's NULL check
 *
 * A client's Call can still fail. So the failure of one client still counts if another client
 * fails, and a server that is down because of two clients stays down for SERVER_HEALTH_DOUBT_US.
 */
void server_health_check_passed(struct server_health *state, uint64_t now_us);
/**
 * server_health_first_reply - Records a client's first Reply, from @addr. The client counts as
 * served until server_health_disconnected().
 */
void server_health_first_reply(struct server_health *state, const struct sockaddr *addr,
			       uint64_t now_us);
/** server_health_disconnected - Records that the connection of a served client has closed. */
void server_health_disconnected(struct server_health *state);
/** server_health_replied - Records another Reply to a client. */
static inline void server_health_replied(struct server_health *state)
{
	/* Usually it is already set, and the test does not move the cache line between workers. */
	if (!atomic_load_explicit(&state->replied, memory_order_relaxed))
		atomic_store_explicit(&state->replied, true, memory_order_relaxed);
}

/** server_health_is_down - Returns whether the server is down; without the lock. */
static inline bool server_health_is_down(const struct server_health *state)
{
	return atomic_load_explicit(&state->down, memory_order_relaxed);
}

/**
 * server_health_tick - Logs the line that is due once a minute, if any; call it every few seconds
 *
 * It can make the server doubtful: call server_health_take_doubt() after it.
 */
void server_health_tick(struct server_health *state, uint64_t now_us);
/** server_health_get - Copies the current state. */
void server_health_get(struct server_health *state, uint64_t now_us,
		       struct server_health_info *info);

#endif
