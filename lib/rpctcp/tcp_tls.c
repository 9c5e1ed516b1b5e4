// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/tcp_tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/be_bytes.h"
#include "base/minmax.h"
#include "rpc/record_mark.h"
#include "rpc/starttls.h"
#include "rpctcp/tcp_close.h"

#define DENIED_MIN_BYTES 20u /* the shortest Reply */

struct tcp_tls {
	uint32_t xid;  /* of the probe */
	bool probed;   /* accepted leg: the record that is being skipped is a probe */
	bool answered; /* connecting leg: the server has accepted the probe */
	bool secured;  /* the handshake is complete */
	uint8_t sent[RECORD_MARK_BYTES + RPC_NULL_CALL_BYTES]; /* the probe, or its answer */
	uint8_t received[RECORD_MARK_BYTES + STARTTLS_ANSWER_MAX_BYTES]; /* the server's answer */
	uint32_t received_bytes, answer_bytes; /* with what follows it; the answer and its mark */
};

_Static_assert(RPC_ERROR_REPLY_BYTES <= RPC_NULL_CALL_BYTES, "an answer does not fit `sent`");

/* Closes a leg in SECURING. */
#define fail(leg, why, err, ...)                                                                   \
	do {                                                                                       \
		tcp_counters(&(leg)->conn)->connect_failures += (leg)->conn.connector;             \
		tcp_close(leg, why, TCP_CLOSE_NOW, err, __VA_ARGS__);                              \
	} while (0)

/* Queues the probe, or the answer to one. Returns 0 or -ENOMEM. */
static int send_clear(struct tcp_leg *leg, size_t len_bytes)
{
	struct tcp_tls *tls = leg->tls;

	record_mark_encode(tls->sent, (uint32_t)len_bytes);
	return record_tx_starttls(&leg->tx, tls->sent, RECORD_MARK_BYTES + (uint32_t)len_bytes);
}

static int queue_probe(struct tcp_leg *leg)
{
	const struct tcp_tls_config *config = &leg->conn.config.tls;
	struct tcp_tls *tls = leg->tls;

	/* A predictable XID does no harm: the server proves itself by its certificate. */
	if (getrandom(&tls->xid, sizeof(tls->xid), GRND_NONBLOCK) != sizeof(tls->xid))
		tls->xid = (uint32_t)loop_now_us(tcp_loop(&leg->conn));
	return send_clear(leg, starttls_encode_probe(tls->sent + RECORD_MARK_BYTES, tls->xid,
						     config->probe_program, config->probe_version));
}

int tcp_tls_init(struct tcp_leg *leg)
{
	const struct tcp_tls_config *config = &leg->conn.config.tls;

	if (config->policy == TCP_TLS_OFF)
		return 0;
	leg->tls = calloc(1, sizeof(*leg->tls));
	if (!leg->tls)
		return -ENOMEM;
	tls_context_ref(config->context);
	if (leg->conn.connector)
		return queue_probe(leg);
	leg->call.needs_tls = config->policy == TCP_TLS_REQUIRED;
	return 0;
}

void tcp_tls_fini(struct tcp_leg *leg)
{
	if (!leg->tls)
		return;
	tls_context_put(leg->conn.config.tls.context);
	free(leg->tls);
	leg->tls = NULL;
}

/* Calls of a client */

static size_t reject(struct tcp_leg *leg, const struct rpc_call_hdr *hdr,
		     enum rpc_auth_stat auth_stat, const char *note,
		     uint8_t reply[RPC_ERROR_REPLY_BYTES])
{
	tcp_counters(&leg->conn)->auth_tls_refused++;
	tcp_conn_note(&leg->conn, TCP_NOTE_CALL, note);
	return rpc_encode_auth_error(reply, hdr->xid, auth_stat);
}

size_t tcp_tls_check_call(struct tcp_leg *leg, const struct rpc_call_hdr *hdr, uint32_t len_bytes,
			  uint8_t reply[RPC_ERROR_REPLY_BYTES])
{
	if (leg->conn.is_tls)
		return reject(leg, hdr, RPC_AUTH_BADCRED,
			      "a Call with AUTH_TLS within TLS was rejected", reply);
	switch (starttls_check_probe(hdr, len_bytes)) {
	case STARTTLS_PROBE:
		leg->tls->probed = true;
		leg->tls->xid = hdr->xid;
		return 0;
	case STARTTLS_PROBE_BAD_CRED:
		return reject(leg, hdr, RPC_AUTH_BADCRED,
			      "a Call with AUTH_TLS that is not an RPC-with-TLS probe was rejected",
			      reply);
	case STARTTLS_PROBE_BAD_VERF:
		return reject(leg, hdr, RPC_AUTH_BADVERF,
			      "an RPC-with-TLS probe with an invalid verifier was rejected", reply);
	case STARTTLS_PROBE_BAD_ARGS:
		break;
	}
	tcp_counters(&leg->conn)->auth_tls_refused++;
	return rpc_encode_accepted(reply, hdr->xid, RPC_GARBAGE_ARGS);
}

size_t tcp_tls_deny_clear(struct tcp_leg *leg, const struct rpc_call_hdr *hdr,
			  uint8_t reply[RPC_ERROR_REPLY_BYTES])
{
	tcp_counters(&leg->conn)->clear_calls_denied++;
	tcp_conn_note(&leg->conn, TCP_NOTE_CLEAR,
		      "a Call without TLS was denied with AUTH_TOOWEAK: this service requires TLS "
		      "(mount with xprtsec=tls)");
	return rpc_encode_auth_error(reply, hdr->xid, RPC_AUTH_TOOWEAK);
}

/* The client would send or get messages in clear after the probe. */
static void reject_busy_probe(struct tcp_leg *leg)
{
	const struct rpc_call_hdr hdr = {.xid = leg->tls->xid};
	uint8_t reply[RPC_ERROR_REPLY_BYTES];
	size_t len = reject(leg, &hdr, RPC_AUTH_REJECTEDCRED,
			    "an RPC-with-TLS probe was rejected: other Calls are in flight", reply);

	if (record_tx_local_reply(&leg->tx, reply, (uint32_t)len))
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for a Reply");
}

/* Closes the leg if the owner accepts no handshake now. */
static bool is_limited(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	const char *limit = config->events->securing ? config->events->securing(config->arg) : NULL;

	if (!limit)
		return false;
	leg->conn.config.tls.counters->handshakes_limited++;
	tcp_close(leg, LEG_CLOSE_TLS_LIMIT, TCP_CLOSE_NOW, 0, "%s", limit);
	return true;
}

void tcp_tls_answer_probe(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	struct tcp_tls *tls = leg->tls;

	if (!tls || !tls->probed)
		return;
	tls->probed = false;
	if (!inflight_is_idle(&leg->inflight)) {
		reject_busy_probe(leg);
		return;
	}
	if (is_limited(leg))
		return;
	if (send_clear(leg, starttls_encode_answer(tls->sent + RECORD_MARK_BYTES, tls->xid))) {
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for a Reply");
		return;
	}
	tcp_counters(conn)->tls_probes_accepted++;
	tcp_conn_set_state(conn, TCP_SECURING);
	/* The probe may have arrived in parts. */
	conn->due_us[TCP_DUE_INPUT] = 0;
	tcp_conn_set_due(conn, TCP_DUE_STATE, TCP_TLS_TIMEOUT_US);
	tcp_conn_update_events(conn);
}

/* The server's answer */

void tcp_tls_connect(struct tcp_leg *leg)
{
	tcp_conn_set_state(&leg->conn, TCP_SECURING);
	tcp_conn_update_events(&leg->conn);
	tcp_conn_defer(&leg->conn);
}

static void close_not_reply(struct tcp_leg *leg)
{
	const struct tcp_tls *tls = leg->tls;
	char detail[LEG_DETAIL_BYTES] = "the answer to the RPC-with-TLS probe is not a Reply to it";
	enum leg_close why;

	rx_sniff_add(&leg->sniff, &leg->conn, tls->received, tls->received_bytes);
	why = rx_sniff_reason(&leg->sniff, &leg->conn, be32_get(tls->received), LEG_CLOSE_NOT_RPC,
			      detail);
	fail(leg, why, 0, "%s", detail);
}

/* At least the record mark has arrived. */
static void check_answer(struct tcp_leg *leg)
{
	struct tcp_tls *tls = leg->tls;
	uint32_t mark = be32_get(tls->received), len_bytes = mark & RECORD_MAX_FRAGMENT_BYTES;
	uint32_t need_bytes = min_u32(len_bytes, STARTTLS_ANSWER_MAX_BYTES);

	if (!(mark & RECORD_LAST_FRAGMENT) || len_bytes < DENIED_MIN_BYTES) {
		close_not_reply(leg);
		return;
	}
	if (tls->received_bytes < RECORD_MARK_BYTES + need_bytes)
		return;
	switch (starttls_check_answer(tls->received + RECORD_MARK_BYTES, need_bytes, len_bytes,
				      tls->xid)) {
	case STARTTLS_ACCEPTED:
		tls->answered = true;
		tls->answer_bytes = RECORD_MARK_BYTES + len_bytes;
		leg->sniff.is_over = true;
		tcp_conn_defer(&leg->conn);
		break;
	case STARTTLS_NOT_OFFERED:
		fail(leg, LEG_CLOSE_TLS, 0, "the server does not offer TLS");
		break;
	case STARTTLS_DENIED:
		fail(leg, LEG_CLOSE_TLS, 0,
		     "the server does not offer TLS: it denied the RPC-with-TLS probe");
		break;
	case STARTTLS_NO_ANSWER:
		close_not_reply(leg);
		break;
	}
}

static void close_broken(struct tcp_leg *leg, int err)
{
	fail(leg, LEG_CLOSE_TLS, err, "%s before the server answered the RPC-with-TLS probe",
	     err ? strerror(err) : "the connection ended");
}

static void read_answer(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	struct tcp_tls *tls = leg->tls;
	struct iovec iov = {tls->received + tls->received_bytes,
			    sizeof(tls->received) - tls->received_bytes};
	ssize_t n = stream_readv(conn->stream, &iov, 1);

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		close_broken(leg, (int)-n);
		return;
	}
	conn->bytes_received += (size_t)n;
	tcp_counters(conn)->bytes_received += (size_t)n;
	tls->received_bytes += (uint32_t)n;
	if (tls->received_bytes >= RECORD_MARK_BYTES)
		check_answer(leg);
}

void tcp_tls_ready(struct tcp_leg *leg, unsigned events)
{
	if (leg->conn.is_tls)
		return;
	if (events & LOOP_READ && leg->conn.connector && !leg->tls->answered)
		read_answer(leg);
	if (events & LOOP_WRITE) {
		leg->conn.send_full = false;
		tcp_conn_defer(&leg->conn);
	}
}

/* The handshake */

/* Returns the input of the handshake that was read already. */
static const uint8_t *early_bytes(const struct tcp_leg *leg, size_t *len_bytes)
{
	const struct tcp_tls *tls = leg->tls;

	if (leg->conn.connector) {
		*len_bytes = tls->received_bytes - tls->answer_bytes;
		return tls->received + tls->answer_bytes;
	}
	*len_bytes = leg->rx.leftover_bytes - leg->rx.leftover_at;
	return *len_bytes ? leg->rx.leftover + leg->rx.leftover_at : NULL;
}

static bool begin_handshake(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	const struct tcp_tls_config *config = &conn->config.tls;
	const struct stream_events *events = conn->stream->events;
	size_t early_len;
	const uint8_t *early = early_bytes(leg, &early_len);
	struct stream *stream;
	int rc = tls_stream_new(config->worker, config->counters, config->context,
				conn->connector ? TLS_ROLE_CLIENT : TLS_ROLE_SERVER, conn->stream,
				early, early_len, &stream);

	if (rc) {
		fail(leg, LEG_CLOSE_RESOURCES, -rc, "no memory for TLS");
		return false;
	}
	conn->stream = stream;
	conn->is_tls = true;
	conn->watched_events = 0;
	stream_bind(stream, events, leg);
	stream_watch(stream, 0);
	return true;
}

bool tcp_tls_work(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;

	if (conn->is_tls || conn->send_full)
		return false;
	if (!record_tx_clear_is_sent(&leg->tx)) {
		int rc = record_tx_flush(&leg->tx);

		if (rc) {
			close_broken(leg, -rc);
			return false;
		}
	}
	if (!record_tx_clear_is_sent(&leg->tx) || (conn->connector && !leg->tls->answered))
		return false;
	return begin_handshake(leg);
}

/* Returns the close reason for a handshake that has failed. */
static enum leg_close handshake_reason(int error)
{
	switch (error) {
	case -ENOMEM:
		return LEG_CLOSE_RESOURCES;
	case -EAGAIN:
		return LEG_CLOSE_TLS_LIMIT;
	default:
		return LEG_CLOSE_TLS;
	}
}

bool tcp_tls_connected(struct tcp_leg *leg, int error)
{
	if (error) {
		fail(leg, handshake_reason(error), -error, "%s",
		     tls_stream_error(leg->conn.stream));
		return false;
	}
	leg->tls->secured = true;
	leg->call.needs_tls = false;
	record_tx_secured(&leg->tx);
	return true;
}

void tcp_tls_expired(struct tcp_leg *leg)
{
	const struct tcp_conn *conn = &leg->conn;

	if (!conn->connector)
		fail(leg, LEG_CLOSE_TLS, 0, "no TLS handshake within %u s of the probe",
		     TCP_TLS_TIMEOUT_US / 1000000);
	else if (conn->is_tls)
		fail(leg, LEG_CLOSE_TIMEOUT, ETIMEDOUT, "the TLS handshake did not end in time");
	else
		fail(leg, LEG_CLOSE_TIMEOUT, ETIMEDOUT,
		     "the server did not answer the RPC-with-TLS probe in time");
}

uint32_t tcp_tls_answer_bytes(const struct tcp_leg *leg)
{
	bool answered = leg->conn.is_tls && !leg->conn.connector;

	return answered ? RECORD_MARK_BYTES + STARTTLS_ANSWER_BYTES : 0;
}

const struct tls_peer *tcp_tls_peer(const struct tcp_leg *leg)
{
	return leg->tls && leg->tls->secured && leg->conn.stream ? tls_stream_peer(leg->conn.stream)
								 : NULL;
}
