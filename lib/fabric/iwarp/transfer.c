// SPDX-License-Identifier: BSD-3-Clause
/*
 * What goes between an endpoint's socket and its engine.
 *
 * A turn of the loop does so much for one connection, however fast its peer is; the rest is done in the next turn,
 * behind the other connections: the loop tells once more of a socket that is readable, and the flush is deferred.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "fabric/iwarp/socket.h"

#define READS_PER_TURN  16u /* while the socket fills what it is given */
#define WRITES_PER_TURN 8u

static struct iwarp_fabric *fabric_of(const struct iwarp_ep *ep)
{
	return container_of(ep->ep.fabric, struct iwarp_fabric, fabric);
}

void iwarp_ep_lost(struct iwarp_ep *ep, int err)
{
	/* An end that is decided already has its own reason. */
	if (iwarp_engine_wish(ep->engine) != IWARP_DROP)
		ep->ep.close_errno = err;
	iwarp_engine_lost(ep->engine, iwarp_socket_why(ep->connecting, err), strerror(err));
}

/* Reads once. Returns whether that was no end, and sets @filled if it filled what the engine gave. */
static bool receive_once(struct iwarp_ep *ep, bool *filled)
{
	struct iovec iov[IWARP_RX_MAX_IOV];
	unsigned niov = iwarp_engine_rx_plan(ep->engine, fabric_of(ep)->staging, iov);
	size_t room = 0;
	ssize_t len;

	for (unsigned j = 0; j < niov; j++)
		room += iov[j].iov_len;
	do {
		len = readv(ep->fd, iov, (int)niov);
	} while (len < 0 && errno == EINTR);
	*filled = len > 0 && (size_t)len == room;
	if (len < 0 && errno == EAGAIN)
		return false;
	if (len < 0)
		iwarp_ep_lost(ep, errno);
	else if (len == 0)
		iwarp_engine_rx_eof(ep->engine);
	else
		iwarp_engine_rx_done(ep->engine, (size_t)len, iwarp_ep_now_us(ep));
	return len > 0 && iwarp_engine_wish(ep->engine) != IWARP_DROP;
}

void iwarp_ep_receive(struct iwarp_ep *ep)
{
	bool filled = true;

	for (unsigned i = 0; i < READS_PER_TURN && filled; i++)
		if (!receive_once(ep, &filled))
			return;
}

void iwarp_ep_receive_rest(struct iwarp_ep *ep)
{
	bool filled;

	while (iwarp_engine_wish(ep->engine) != IWARP_DROP && receive_once(ep, &filled))
		;
}

void iwarp_ep_mss_tell(struct iwarp_ep *ep)
{
	if (iwarp_segment_changed(&ep->segment, ep->fd))
		iwarp_engine_mss(ep->engine, (unsigned)ep->segment.mss_bytes);
}

void iwarp_ep_send(struct iwarp_ep *ep)
{
	for (unsigned i = 0; i < WRITES_PER_TURN; i++) {
		const struct iovec *iov;
		struct msghdr msg = {0};
		size_t total = 0;
		ssize_t len;

		iwarp_ep_mss_tell(ep);
		msg.msg_iovlen = iwarp_engine_tx_plan(ep->engine, &iov);
		ep->blocked = false;
		if (!msg.msg_iovlen)
			return;
		msg.msg_iov = (struct iovec *)iov;
		for (size_t j = 0; j < msg.msg_iovlen; j++)
			total += iov[j].iov_len;
		do {
			len = sendmsg(ep->fd, &msg, MSG_NOSIGNAL | MSG_EOR);
		} while (len < 0 && errno == EINTR);
		if (len < 0 && errno != EAGAIN) {
			int err = errno;

			/* The peer's last words may say why. */
			iwarp_ep_receive(ep);
			iwarp_ep_lost(ep, err);
			return;
		}
		if (len > 0) {
			iwarp_segment_sent(&ep->segment, (size_t)len);
			iwarp_engine_tx_done(ep->engine, (size_t)len, iwarp_ep_now_us(ep));
		}
		if (len < 0 || (size_t)len < total) {
			ep->blocked = true;
			return;
		}
	}
	loop_defer(ep->ep.fabric->loop, &ep->flush);
}
