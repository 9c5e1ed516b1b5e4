/* SPDX-License-Identifier: BSD-3-Clause */
/* What the socket side of the iwarp fabric shares: fabric, endpoints, listeners. */
#ifndef FABRIC_IWARP_SOCKET_H
#define FABRIC_IWARP_SOCKET_H

#include <netinet/in.h>

#include "fabric/iwarp/engine.h"
#include "fabric/iwarp/segment.h"

struct iwarp_fabric {
	struct fabric fabric;
	struct iwarp_env env;
	struct iwarp_counters counters, connected_counters;
	struct iwarp_config config;
	uint8_t *staging; /* IWARP_RX_STAGING_BYTES; empty between two callbacks */
};

struct iwarp_incoming {
	struct fabric_incoming in;
	int fd;
};

struct iwarp_ep {
	struct fabric_ep ep;
	struct iwarp_engine *engine;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	uint64_t timer_at; /* UINT64_MAX: not set */
	struct loop_task flush;
	bool connecting; /* TCP is not up yet */
	bool blocked;    /* the socket takes no more for now */
	bool fin_sent;
	bool end_due; /* the peer's end has come: what is here is read in one go */
	bool closed;  /* closed() has been or is being called */
	unsigned watched;
	struct iwarp_segment segment;
	struct sockaddr_storage local, peer;
};

/** iwarp_ep_now_us - return the time of this iteration of its loop. */
static inline uint64_t iwarp_ep_now_us(const struct iwarp_ep *ep)
{
	return loop_now_us(ep->ep.fabric->loop);
}

#define IWARP_KEEPALIVE_S 30u /* unless the configuration says otherwise */

/**
 * iwarp_socket_tune - TCP_NODELAY, keepalive and the bound on unanswered data; best effort
 * @fd: one that connects, or a listener: what is accepted there inherits them
 */
void iwarp_socket_tune(int fd, const struct iwarp_config *config);
/** iwarp_socket_spread - ask the peer at @fd, which was accepted, when not all others are asked. */
void iwarp_socket_spread(int fd, const struct iwarp_config *config);
/**
 * iwarp_socket_connect - a TCP connection on its way
 * @params: where it comes from
 *
 * Returns the descriptor, or a negative errno; of a port that cannot be had -EADDRINUSE or -EADDRNOTAVAIL.
 */
int iwarp_socket_connect(const struct sockaddr *addr,
			 const struct fabric_ep_params *params) MUST_CHECK;
/** iwarp_socket_why - what @err, an errno, says of a socket that is @connecting, or that was up. */
enum fabric_close iwarp_socket_why(bool connecting, int err);
/** iwarp_socket_has_ended - whether the peer has ended or reset the connection at @fd, whatever is unread before that. */
bool iwarp_socket_has_ended(int fd);

/* transfer.c: ep_settle() is due after each of these. */
/** iwarp_ep_receive - read what has come, as much as one turn of the loop may. */
void iwarp_ep_receive(struct iwarp_ep *ep);
/** iwarp_ep_receive_rest - read all that has come; the peer's end is behind it, so that it is no more than the socket holds. */
void iwarp_ep_receive_rest(struct iwarp_ep *ep);
/** iwarp_ep_send - send what the engine has, as much as one turn may; the rest is deferred, or waits for the socket. */
void iwarp_ep_send(struct iwarp_ep *ep);
/** iwarp_ep_lost - the socket failed with @err, an errno. */
void iwarp_ep_lost(struct iwarp_ep *ep, int err);
/** iwarp_ep_mss_tell - tell the engine if the size of segments has changed. */
void iwarp_ep_mss_tell(struct iwarp_ep *ep);

/* endpoint.c, listener.c: the operations of fabric.h. */
int iwarp_ep_connect(struct fabric *fabric, const struct sockaddr *addr,
		     const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		     void *arg, struct fabric_ep **out);
int iwarp_ep_adopt(struct fabric *fabric, struct fabric_incoming *in,
		   const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
int iwarp_ep_accept(struct fabric_ep *ep, const struct fabric_ep_params *params);
void iwarp_ep_reject(struct fabric_ep *ep, const void *private_data, size_t len_bytes);
void iwarp_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info);
void iwarp_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES]);
void iwarp_ep_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);
unsigned iwarp_ep_recv_resize(struct fabric_ep *ep, uint32_t size_bytes);
int iwarp_ep_post(struct fabric_ep *ep, struct fabric_wr *wr);
int iwarp_ep_key_bind(struct fabric_ep *ep, struct fabric_key *key);
void iwarp_ep_key_ready(struct fabric_key *key);
bool iwarp_ep_key_starves(const struct fabric_key *key);
bool iwarp_ep_key_unbind(struct fabric_key *key);
int iwarp_ep_probe(struct fabric_ep *ep);
void iwarp_ep_close(struct fabric_ep *ep);
void iwarp_ep_abort(struct fabric_ep *ep);
void iwarp_ep_hear_end(struct fabric_ep *ep);
void iwarp_ep_free(struct fabric_ep *ep);

int iwarp_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out);
void iwarp_listener_pause(struct fabric_listener *listener, bool paused);
void iwarp_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr);
void iwarp_listener_free(struct fabric_listener *listener);
void iwarp_incoming_drop(struct fabric_incoming *in, const void *private_data, size_t len_bytes);

#endif
