/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private definition of the engine, for its own files. Each file calls only files above it in this
 * list:
 *
 *	teardown.c       states, close reasons and Terminate
 *	read_queue.c     RDMA Reads of either side
 *	fpdu.c           builds FPDUs and start-up frames into the batch to send
 *	mpa_handshake.c  the MPA exchange
 *	placement.c      checks a received FPDU, and executes it
 *	rx_iov.c         where to receive the next bytes, by rx_predict.h and rx_scatter.h
 *	timers.c         deadlines, the nudge, and the keepalive
 *	rx.c             parses the received stream of FPDUs
 *	tx.c             which FPDU is sent next, and what that completes
 *	engine.c         creation and closing, and the work that the owner posts
 */
#ifndef FABRIC_IWARP_ENGINE_PRIV_H
#define FABRIC_IWARP_ENGINE_PRIV_H

#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/engine.h"
#include "fabric/iwarp/mpa.h"
#include "fabric/iwarp/rx_predict.h"
#include "fabric/iwarp/stag_table.h"
#include "fabric/iwarp/terminate_codes.h"
#include "fabric/iwarp/tx_batch.h"
#include "fabric/posted_recvs.h"

enum rx_stage {
	RX_HEADER,  /* length, DDP header and a Read Request's own */
	RX_PAYLOAD, /* until payload_left is 0 */
	RX_TRAILER, /* padding and CRC */
};

/* A Read of the peer: an entry of the inbound RDMA Read queue (IRRQ, RFC 5040). */
struct engine_irrq_entry {
	struct rdmap_read read;
	struct fabric_key *key; /* NULL for a zero-length Read */
	struct buf *buf;        /* a reference: holds the memory until the Response is sent */
	const uint8_t *mem;
	uint32_t offset; /* bytes of it that are in a batch … */
	uint64_t end;    /* … and, once that is all, stream position at which it has been sent */
};

struct engine_rx {
	enum rx_stage stage;
	enum terminate_reason verdict; /* error found; acted on once the CRC has been verified */
	uint8_t header[MPA_LENGTH_BYTES + DDP_MAX_BYTES];
	unsigned header_have, header_need;
	uint8_t trailer[MPA_MAX_PAD_BYTES + MPA_CRC_BYTES];
	unsigned trailer_have, trailer_need;
	struct ddp_header ddp;
	uint32_t payload_total, payload_left;
	uint32_t crc;
	uint8_t *dest;           /* where the next payload byte is placed; NULL: nowhere */
	const uint8_t *in_place; /* a whole Send in the owner's staging memory */
	struct fabric_key *key;  /* target of this RDMA Write FPDU */

	/* The tagged message being received. */
	bool tagged_open;
	uint8_t tagged_opcode;
	uint32_t tagged_stag;
	uint64_t tagged_to;     /* required in its next segment */
	uint64_t write_to;      /* of an RDMA Write: where it began */
	uint32_t read_received; /* of the oldest Read */

	/* The Send being received. */
	uint32_t send_have;
	struct buf *send_buf; /* a Send in several pieces is reassembled here */

	uint8_t terminate[TERM_MAX_BYTES];

	struct rx_predict predict;
	bool predicted; /* the plan predicts the place of the next message */
};

struct engine_tx {
	struct iwarp_tx_batch *batch; /* NULL: nothing is ready to send */
	uint64_t built, sent;         /* positions in the stream */
	uint64_t segment_start;       /* stream position at which a TCP segment starts */
	/* Completions are valid up to here: a Terminate discards everything after it. */
	uint64_t valid;
	bool await_first_fpdu; /* responder: wait for the initiator's first FPDU (RFC 5044, 7.1) */
	bool nudge;
	bool response_last;     /* a Response was sent last, not a Send or Write */
	struct fabric_wr *wr;   /* the Send or Write being built; first of the queue */
	uint64_t offset, total; /* position in it, and its length */
	unsigned sge;           /* index in wr, and the offset there */
	uint32_t sge_offset;
	enum terminate_reason terminate; /* to send */
	struct rdmap_terminate term;
};

struct iwarp_engine {
	struct iwarp_env *env;
	struct iwarp_counters *counters;
	struct iwarp_config config;
	const struct fabric_ep_events *events;
	void *arg;

	enum engine_state state;
	bool initiator;
	bool crc;
	uint8_t revision; /* MPA revision, once negotiated */
	bool rtr_send;    /* the peer's first FPDU is an RTR message: a zero-length Send or FPDU */
	bool rx_any;      /* the peer has sent FPDU bytes */
	uint8_t *setup;   /* start-up frame being received; NULL after set-up */
	size_t setup_have;
	/* Responder: the peer's request; private_data points into setup. */
	struct mpa_frame request;

	uint64_t setup_deadline, close_deadline, nudge_deadline, keepalive_deadline;
	uint64_t close_acked; /* stream position acknowledged when last checked */
	uint64_t close_end;   /* final limit, whatever the peer acknowledges */
	size_t unacked_bytes; /* sent, but not acknowledged */
	bool nudge_started;
	uint64_t first_sent_us; /* when our first FPDU was sent */
	unsigned nudges;

	unsigned ird, ord;
	bool ord_agreed;           /* the peer has sent the number of Reads that it accepts */
	struct posted_recvs recvs; /* a Send being received uses the first */
	unsigned fpdu_bytes;
	unsigned mss_bytes; /* MSS of TCP, at least the minimum of fpdu_bytes */

	struct stag_table keys;
	unsigned bulk; /* number of keys and Reads that make long tagged messages likely */
	/* Keys whose long RDMA Write has not begun: engine_key_awaits(). */
	TAILQ_HEAD(, fabric_key) awaiting_write;
	TAILQ_HEAD(, fabric_key) unbinding; /* unbound while a Read Response is being sent */

	struct fabric_wr_list queue; /* Sends and Writes not completely built */
	/* Completely built; priv[0] is the stream position that completes them. */
	struct fabric_wr_list built;
	struct fabric_wr_list reads_wait;       /* wait for one of the peer's IRD slots */
	struct fabric_wr_list reads_out;        /* priv[0]: sink TO; priv[1]: sink STag */
	struct fabric_wr_list failed;           /* to complete with an error */
	unsigned reads_posted, reads_out_count; /* waiting or outstanding; outstanding */

	struct fabric_wr keepalive; /* the keepalive: a zero-length Read */
	/* Stream position at which it has been sent; 0: not built, or already sent. */
	uint64_t keepalive_end;

	struct engine_irrq_entry *irrq; /* ring of `ird` entries */
	unsigned irrq_head, irrq_count;
	unsigned irrq_built; /* built entries, from the head */

	uint32_t send_msn_tx, send_msn_rx, read_msn_tx, read_msn_rx;

	struct engine_rx rx;
	struct engine_tx tx;

	enum fabric_close why;
	bool close_reason_set;
	bool peer_speaks_rpc;  /* … over TCP, instead of an MPA request */
	uint32_t refused_sink; /* sink STag of a Read that the peer's Terminate names */
	bool refused;
	char detail[192];
};

static inline bool engine_up(const struct iwarp_engine *engine)
{
	return engine->state == ENGINE_OPEN || engine->state == ENGINE_CLOSING;
}

/* Returns true if the FPDU being received belongs to a Send; valid once its header is known. */
static inline bool engine_rx_is_send(const struct engine_rx *rx)
{
	return !rx->ddp.tagged && rx->ddp.qn == DDP_QN_SEND;
}

/* Returns true if no byte of the long RDMA Write that this key is exposed for has arrived. */
static inline bool engine_key_awaits(const struct fabric_key *key)
{
	return key->rights == FABRIC_REMOTE_WRITE && key->len_bytes >= RX_BULK_BYTES &&
	       key->written.reached_bytes == 0;
}

/* teardown.c */
void engine_state_set(struct iwarp_engine *engine, enum engine_state state);
void engine_note(struct iwarp_engine *engine, const char *format, ...) PRINTF_LIKE(2, 3);
/* Set the close reason; the first one is kept. */
void engine_close_reason_set(struct iwarp_engine *engine, enum fabric_close why, const char *format,
			     ...) PRINTF_LIKE(3, 4);
/* Set the close reason and end immediately. */
void engine_drop(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Send a frame that is already queued, or a Terminate for `reason`, then end. */
void engine_send_last_frame(struct iwarp_engine *engine, uint64_t now_us);
void engine_terminate(struct iwarp_engine *engine, enum terminate_reason reason, uint64_t now_us);
/* Start the time limit of an orderly close. */
void engine_close_deadline_set(struct iwarp_engine *engine, uint64_t now_us);

/* read_queue.c: first our own Reads, then the peer's. */
void engine_read_post(struct iwarp_engine *engine, struct fabric_wr *wr);
void engine_read_built(struct iwarp_engine *engine, struct fabric_wr *wr);
void engine_read_done(struct iwarp_engine *engine, enum fabric_status status);
enum terminate_reason engine_irrq_add(struct iwarp_engine *engine, const struct rdmap_read *read);
/*
 * Return the oldest Read whose Response is not completely built, or NULL; return how many more
 * bytes of it can be built now.
 */
struct engine_irrq_entry *engine_irrq_next(const struct iwarp_engine *engine);
uint32_t engine_irrq_ready(const struct engine_irrq_entry *irrq);
void engine_irrq_sent(struct iwarp_engine *engine);
void engine_irrq_flush(struct iwarp_engine *engine);
bool engine_key_busy(const struct iwarp_engine *engine, const struct fabric_key *key);

/* mpa_handshake.c: consumes start-up bytes, and returns how many; FPDUs follow. */
size_t engine_handshake_rx(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes,
			   uint64_t now_us);
/* The reply has been sent. */
void engine_handshake_reply_sent(struct iwarp_engine *engine, uint64_t now_us);
/* The peer closed during the exchange; the time limit has passed. */
void engine_handshake_eof(struct iwarp_engine *engine);
void engine_handshake_timeout(struct iwarp_engine *engine);
void engine_handshake_free(struct iwarp_engine *engine);

/* placement.c: checks a header and sets where its payload is placed; executes a complete FPDU. */
void engine_place_header(struct iwarp_engine *engine);
enum terminate_reason engine_place_commit(struct iwarp_engine *engine, uint64_t now_us);
/* Sets where the payload of a Send in several pieces is placed; returns false without memory. */
bool engine_place_send(struct iwarp_engine *engine);

/* rx_iov.c: updates the predictor from a received header. */
void engine_rx_learn(struct iwarp_engine *engine);

/* timers.c: our first FPDU was sent; more was sent; the peer has sent data. */
void engine_nudge_start(struct iwarp_engine *engine, uint64_t now_us);
void engine_keepalive_sent(struct iwarp_engine *engine, uint64_t now_us);
void engine_keepalive_received(struct iwarp_engine *engine, uint64_t now_us);

/* fpdu.c: get a batch (false without memory), and return it when it is empty. */
bool engine_batch_get(struct iwarp_engine *engine);
void engine_batch_put(struct iwarp_engine *engine);
/* Queue bytes to send before the first start-up frame; returns 0 or -ENOMEM. */
int engine_preface_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes);
/* Queue a start-up frame; returns 0 or -ENOMEM. */
int engine_frame_send(struct iwarp_engine *engine, const struct mpa_frame *frame);
/* Build one FPDU; return false if it must not directly follow the FPDUs built so far. */
void engine_terminate_build(struct iwarp_engine *engine);
bool engine_read_build(struct iwarp_engine *engine);
bool engine_nudge_build(struct iwarp_engine *engine);
bool engine_response_build(struct iwarp_engine *engine);
bool engine_wr_build(struct iwarp_engine *engine);

#endif
