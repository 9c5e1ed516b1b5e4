/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a service's server answers, and what the log says of it.
 *
 * A thousand clients that come back twice a second to a server that is down would fill the log, each with its own
 * failure. So the failures of all clients are added up here, and a line is written when the server is found not to
 * answer, one a minute while it is asked and does not, one sooner if the cause has become another, and one when it
 * answers again. All of them are warnings: who reads warnings alone is to learn of the end too. A server that comes
 * and goes is told of once a minute.
 *
 * Only who asks finds out: a server that nobody has asked is not known, and one that was down and is asked by nobody
 * stays so. But what one client meets is not what all meet: a connection that the server closes without a Reply says
 * nothing of it while it serves others, since it may be what the client has sent that it closes for; and a server
 * that goes on answering those, and fails nobody else, is not down.
 *
 * Also while it serves nobody, a server may close for what one client has sent; and where it sees the clients' own addresses,
 * not take connections from one of them. So once a Call was sent, or for such an address, that makes the server doubtful
 * only, and the proxy asks it by a NULL of its own. It is down if that fails, or if another client meets the same before a
 * client has a Reply, in SERVER_STATE_DOUBT_US. Clients are told apart by their addresses: IPv4, v4-mapped or not, by all
 * of it, IPv6 by its /64; and all of loopback, 127/8 and ::1, are one.
 *
 * Of a server that is down since two clients have met it, an answer to NULL says nothing, whether it was sent before or
 * since: it may close for all Calls but that. But clients may be kept away from what is down. So SERVER_STATE_DOUBT_US
 * after two have met it last, it becomes doubtful again, and so once in that time until it answers, a NULL or a client.
 * Then it is up, and it takes two clients again.
 *
 * Threads: any; under a lock of its own.
 */
#ifndef DAEMON_SERVICE_SERVER_STATE_H
#define DAEMON_SERVICE_SERVER_STATE_H

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

#define SERVER_STATE_TELL_US 60000000u /* between two lines about one that is down or unsteady */
/* So long down is told, however short it was up before; so long none has failed, for Replies to others to count. */
#define SERVER_STATE_SURE_US 15000000u
#define SERVER_STATE_CAUSES  3u /* other causes that are told sooner than that, in one outage */
#define SERVER_STATE_DOUBT_US                                                                      \
	60000000u /* so long a close that one client met counts with one that another meets */

enum server_reach { SERVER_UNKNOWN, SERVER_OK, SERVER_DOWN };

/* What is known now. */
struct server_info {
	enum server_reach reach;
	uint64_t age_us;               /* of reach; nothing for SERVER_UNKNOWN */
	char addr[ADDRESS_TEXT_BYTES]; /* that was asked last; empty: its name has none */
	char error[LEG_DETAIL_BYTES];  /* SERVER_DOWN: why it did not answer last */
	uint64_t failed;               /* SERVER_DOWN: attempts since it was found to be */
	unsigned waiting;              /* clients that have had no Reply yet */
};

struct server_state {
	const char *service;
	char uri[CONFIG_URI_TEXT_BYTES];
	bool is_address; /* the URI names an address, so that lines need not */
	bool quiet; /* the log is told nothing of it; set by who knows that before anybody asks */
	atomic_uint waiting;
	atomic_uint served;   /* connections that have had a Reply */
	atomic_bool down;     /* reach is SERVER_DOWN: for server_state_is_down() */
	atomic_bool heard;    /* a Reply has come since the last look */
	atomic_bool doubtful; /* it is to be asked: server_state_take_doubt() */
	pthread_mutex_t lock; /* of what follows */
	enum server_reach reach;
	uint64_t since_us;
	struct sockaddr_storage addr; /* of no family: none */
	enum leg_close why;
	char error[LEG_DETAIL_BYTES];
	uint64_t failed;    /* attempts since SERVER_DOWN … */
	uint64_t failed_us; /* … and when the last one did */
	bool told_down;     /* that it is */
	bool told_once;
	uint64_t told_us;                  /* when the last line was written */
	uint64_t told_failed;              /* … and how many attempts it told of */
	char told_error[LEG_DETAIL_BYTES]; /* … and what cause */
	unsigned causes; /* that were told as others than before, in this outage */
	unsigned gaps;   /* that began and ended untold since then */
	bool has_suspect; /* a client's connection was closed without a Reply since one had a Reply … */
	struct in6_addr suspect; /* … the address of that client … */
	uint64_t suspect_us;     /* … and when … */
	enum leg_close suspect_why;
	char suspect_error[LEG_DETAIL_BYTES]; /* … and why */
	bool by_clients;                      /* it is down, and two clients have met it … */
	uint64_t by_clients_us;               /* … when that was last … */
	uint64_t again_us;                    /* … or it became doubtful since, for that */
};

/**
 * server_state_init - nobody has asked it yet
 * @service, @uri: of the configuration, which outlives it
 */
void server_state_init(struct server_state *state, const char *service,
		       const struct config_uri *uri);
/** server_state_fini - accepts one that is all zero. */
void server_state_fini(struct server_state *state);

/** server_state_seek - a client waits for it from now on, until server_state_leave(). */
void server_state_seek(struct server_state *state);
/** server_state_leave - a client waits no longer: it has a Reply, or has gone. */
void server_state_leave(struct server_state *state);

/**
 * server_state_failed - a client's attempt is over, and all the server's addresses have failed
 * @addr:   the last one; NULL: its name has none
 * @why:    what is no fault of the server's does not count: LEG_CLOSE_LOCAL, _RESOURCES, _NO_SOURCE_PORT,
 *          _NO_SOURCE_ADDRESS, _SHUTDOWN, _OWN_UPSTREAM
 * @detail: more of it; may be empty
 *
 * Returns whether it counts, and so is told here: the caller need not.
 */
bool server_state_failed(struct server_state *state, const struct sockaddr *addr,
			 enum leg_close why, const char *detail, uint64_t now_us);
/**
 * server_state_unreached - as server_state_failed(), of what may be for one client alone
 * @client: its address, if the attempt came from there; else NULL
 *
 * With @client it counts only if another client has met the same or the server is down already. Otherwise the server
 * becomes doubtful. LEG_CLOSE_SILENT, _NO_ADDRESS and _NO_MOUNT count in any case: the client has no part in them.
 */
bool server_state_unreached(struct server_state *state, const struct sockaddr *addr,
			    const struct sockaddr *client, enum leg_close why, const char *detail,
			    uint64_t now_us);
/**
 * server_state_unanswered - a client's connection is over, and the server has sent no Reply on it
 * @client: the client's address if a Call of its own was sent, for which the server may have closed; else NULL
 *
 * As server_state_unreached(), but it counts only if the server serves nobody else.
 */
bool server_state_unanswered(struct server_state *state, const struct sockaddr *addr,
			     const struct sockaddr *client, enum leg_close why, const char *detail,
			     uint64_t now_us);
/** server_state_take_doubt - returns true once after the server has become doubtful. */
static inline bool server_state_take_doubt(struct server_state *state)
{
	return atomic_load_explicit(&state->doubtful, memory_order_relaxed) &&
	       atomic_exchange(&state->doubtful, false);
}
/** server_state_put_doubt - it was taken, and nobody could ask: it is to be taken once more. */
static inline void server_state_put_doubt(struct server_state *state)
{
	atomic_store(&state->doubtful, true);
}
/**
 * server_state_doubt_holds - it was asked a NULL of our own, and failed for @why
 * @error: more of it, as of server_state_failed()
 * @told:  set to what it is told as; if clients met the same, in the words for that
 *
 * Returns whether that is the server's fault.
 */
bool server_state_doubt_holds(struct server_state *state, enum leg_close why, const char *error,
			      uint64_t now_us, char told[LEG_DETAIL_BYTES]);
/**
 * server_state_asked - it has answered a NULL of our own
 *
 * That ends no doubt, since a client's Call may be another matter: what one client has met still counts with what another
 * meets, and while two have met it within SERVER_STATE_DOUBT_US, it stays down.
 */
void server_state_asked(struct server_state *state, uint64_t now_us);
/** server_state_reached - a client has its first Reply, from @addr; it is served until server_state_parted(). */
void server_state_reached(struct server_state *state, const struct sockaddr *addr, uint64_t now_us);
/** server_state_parted - that client's connection is over. */
void server_state_parted(struct server_state *state);
/** server_state_heard - a client has another Reply. */
static inline void server_state_heard(struct server_state *state)
{
	/* Nearly always it is known: no worker takes the line from the others then. */
	if (!atomic_load_explicit(&state->heard, memory_order_relaxed))
		atomic_store_explicit(&state->heard, true, memory_order_relaxed);
}

/** server_state_is_down - whether it is, as far as is known: without the lock. */
static inline bool server_state_is_down(const struct server_state *state)
{
	return atomic_load_explicit(&state->down, memory_order_relaxed);
}

/**
 * server_state_look - write the line that is due once a minute, if it is; to be called every few seconds
 *
 * It may become doubtful by that: server_state_take_doubt() is due.
 */
void server_state_look(struct server_state *state, uint64_t now_us);
/** server_state_get - what is known now; copied. */
void server_state_get(struct server_state *state, uint64_t now_us, struct server_info *info);

#endif
