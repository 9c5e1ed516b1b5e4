/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's insides, shared by the files that make it up and by nobody else. Each file calls the ones above it:
 *
 *	ending.c   states, reasons, Terminate: how a connection ends
 *	reads.c    RDMA Reads of either side
 *	fpdu.c     FPDUs and start-up frames to send, built into the batch that is being sent
 *	setup.c    the MPA exchange
 *	place.c    what a received FPDU may do, and its being done
 *	rx_plan.c  where the next received bytes go, by rx_habit.h and rx_image.h
 *	timers.c   deadlines, the nudge, and the probe's time
 *	rx.c       the stream of FPDUs that comes
 *	tx.c       which FPDU is sent next, and what that completes
 *	engine.c   the engine's life, and what its owner posts
 */
#ifndef FABRIC_IWARP_ENGINE_PRIV_H
#define FABRIC_IWARP_ENGINE_PRIV_H

#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/engine.h"
#include "fabric/iwarp/keys.h"
#include "fabric/iwarp/mpa.h"
#include "fabric/iwarp/reason.h"
#include "fabric/iwarp/rx_habit.h"
#include "fabric/iwarp/tx_batch.h"
#include "fabric/recv_runs.h"

enum rx_stage {
	RX_HEADER,  /* length, DDP header and a Read Request's own */
	RX_PAYLOAD, /* until payload_left is 0 */
	RX_TRAILER, /* padding and CRC */
};

/* A Read of the peer's that waits for its Response to be sent, or is being sent. */
struct engine_irq {
	struct rdmap_read read;
	struct fabric_key *key; /* NULL for a Read of nothing */
	struct buf *buf;        /* a reference: the memory stays until the Response is out */
	const uint8_t *mem;
	uint32_t offset; /* so much of it is in a batch … */
	uint64_t end;    /* … and, once that is all, out when the stream has got here */
};

struct engine_rx {
	enum rx_stage stage;
	enum iwarp_reason verdict; /* what is wrong; told once the CRC is known to be right */
	uint8_t header[MPA_LENGTH_BYTES + DDP_MAX_BYTES];
	unsigned header_have, header_need;
	uint8_t trailer[MPA_MAX_PAD_BYTES + MPA_CRC_BYTES];
	unsigned trailer_have, trailer_need;
	struct ddp_header ddp;
	uint32_t payload_total, payload_left;
	uint32_t crc;
	uint8_t *dest;           /* where the next payload byte belongs; NULL: nowhere */
	const uint8_t *in_place; /* a whole Send, in the staging memory of the owner */
	struct fabric_key *key;  /* that this RDMA Write FPDU goes to */

	/* The tagged message that is under way. */
	bool tagged_open;
	uint8_t tagged_opcode;
	uint32_t tagged_stag;
	uint64_t tagged_to;     /* that its next segment must have */
	uint64_t write_to;      /* of an RDMA Write: where it began */
	uint32_t read_received; /* of the oldest Read */

	/* The Send that is under way. */
	uint32_t send_have;
	struct buf *send_buf; /* a Send that came in pieces is put together here */

	uint8_t terminate[TERM_MAX_BYTES];

	struct rx_habit habit;
	bool guessed; /* of the plan: where the next message goes */
};

struct engine_tx {
	struct iwarp_tx_batch *batch; /* NULL if nothing is ready to be sent */
	uint64_t built, sent;         /* positions in the stream */
	uint64_t train;               /* where a TCP segment starts, and those behind it follow */
	uint64_t valid; /* completions count up to here: a Terminate cuts off what is behind */
	bool hold;      /* responder before the initiator's first FPDU: RFC 5044 section 7.1 */
	bool nudge;
	bool responded;         /* of Responses and the queue, a Response had the last turn */
	struct fabric_wr *wr;   /* the Send or Write being built, the first of the queue */
	uint64_t offset, total; /* in it */
	unsigned sge;           /* of wr, and how far in it */
	uint32_t sge_offset;
	enum iwarp_reason terminate; /* to be sent */
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
	uint8_t revision; /* of MPA, once agreed */
	bool rtr_send; /* the peer's first FPDU is a zero-length Send or FPDU, meant for us alone */
	bool rx_any;   /* the peer has sent FPDU bytes */
	uint8_t *setup; /* start-up frame being received; NULL outside of set-up */
	size_t setup_have;
	struct mpa_frame request; /* responder: what is asked for; private_data is in setup */

	uint64_t setup_deadline, close_deadline, nudge_deadline, probe_deadline;
	uint64_t close_taken; /* how far in the stream the peer was at the last look */
	uint64_t close_end;   /* when it is over, whatever the peer takes */
	size_t unacked_bytes; /* of what was sent */
	bool nudge_started;
	uint64_t first_sent_us; /* when our first FPDU had gone out */
	unsigned nudges;

	unsigned ird, ord;
	bool ord_agreed;        /* the peer has said how many Reads it takes */
	struct recv_runs recvs; /* the receive that a Send under way takes is the first */
	unsigned fpdu_bytes;    /* longest FPDU to send */
	unsigned mss_bytes;     /* of a TCP segment, at least the shortest fpdu_bytes */

	struct iwarp_keys keys;
	unsigned bulk; /* keys and Reads that make long tagged messages likely */
	TAILQ_HEAD(, fabric_key) awaiting;  /* long RDMA Writes, the first; engine_key_awaits() */
	TAILQ_HEAD(, fabric_key) unbinding; /* unbound while a Read Response is on its way */

	struct fabric_wr_list queue; /* Sends and Writes not wholly built */
	struct fabric_wr_list built; /* wholly built; priv[0] is the position that completes them */
	struct fabric_wr_list reads_wait;       /* for one of the peer's slots */
	struct fabric_wr_list reads_out;        /* priv[0]: sink TO; priv[1]: sink STag */
	struct fabric_wr_list failed;           /* cannot be done; to be completed */
	unsigned reads_posted, reads_out_count; /* waiting or out; out */

	struct fabric_wr probe; /* a Read of nothing */
	bool probing;           /* it is posted */
	uint64_t
		probe_end; /* it is out when the stream has got here; 0: it is not built, or was seen out */

	struct engine_irq *irq; /* ring of `ird` */
	unsigned irq_head, irq_count;
	unsigned irq_built; /* of them, from the head */

	uint32_t send_msn_tx, send_msn_rx, read_msn_tx, read_msn_rx;

	struct engine_rx rx;
	struct engine_tx tx;

	enum fabric_close why;
	bool why_set;
	uint32_t refused_sink; /* of a Read that the peer's Terminate names */
	bool refused;
	char detail[192];
};

static inline bool engine_up(const struct iwarp_engine *engine)
{
	return engine->state == ENGINE_OPEN || engine->state == ENGINE_CLOSING;
}

/* Whether the FPDU under way is of a Send, once its header is known. */
static inline bool engine_rx_is_send(const struct engine_rx *rx)
{
	return !rx->ddp.tagged && rx->ddp.qn == DDP_QN_SEND;
}

/* Whether no byte has come yet of the long RDMA Write that this key is lent for. */
static inline bool engine_key_awaits(const struct fabric_key *key)
{
	return key->rights == FABRIC_REMOTE_WRITE && key->len_bytes >= RX_BULK_BYTES &&
	       key->written.reached_bytes == 0;
}

/* ending.c */
void engine_state_set(struct iwarp_engine *engine, enum engine_state state);
void engine_note(struct iwarp_engine *engine, const char *format, ...) PRINTF_LIKE(2, 3);
/* The reason to be told at last; the first one counts. */
void engine_why(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* End at once, for a reason. */
void engine_drop(struct iwarp_engine *engine, enum fabric_close why, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Send a last frame that is queued already, or a Terminate for `reason`, then end. */
void engine_end(struct iwarp_engine *engine, uint64_t now_us);
void engine_terminate(struct iwarp_engine *engine, enum iwarp_reason reason, uint64_t now_us);
/* The time that an end in good order may take runs. */
void engine_close_deadline_set(struct iwarp_engine *engine, uint64_t now_us);

/* reads.c: ours first. */
void engine_read_post(struct iwarp_engine *engine, struct fabric_wr *wr);
void engine_read_built(struct iwarp_engine *engine, struct fabric_wr *wr);
void engine_read_done(struct iwarp_engine *engine, enum fabric_status status);
enum iwarp_reason engine_irq_add(struct iwarp_engine *engine, const struct rdmap_read *read);
/* The oldest whose Response is not wholly built, or NULL; how much of the rest may be built now. */
struct engine_irq *engine_irq_next(const struct iwarp_engine *engine);
uint32_t engine_irq_ready(const struct engine_irq *irq);
void engine_irq_sent(struct iwarp_engine *engine);
void engine_irq_flush(struct iwarp_engine *engine);
bool engine_key_busy(const struct iwarp_engine *engine, const struct fabric_key *key);

/* setup.c: takes start-up bytes, returns how many; what is behind them are FPDUs. */
size_t engine_setup_rx(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes,
		       uint64_t now_us);
/* The reply has gone out. */
void engine_setup_replied(struct iwarp_engine *engine, uint64_t now_us);
/* The peer has closed before the exchange was over; its time is up. */
void engine_setup_eof(struct iwarp_engine *engine);
void engine_setup_late(struct iwarp_engine *engine);
void engine_setup_forget(struct iwarp_engine *engine);

/* place.c: checks a header and says where its payload goes; acts on a whole FPDU. */
void engine_place_header(struct iwarp_engine *engine);
enum iwarp_reason engine_place_commit(struct iwarp_engine *engine, uint64_t now_us);
/* Where the payload of a Send in pieces goes; false without memory. */
bool engine_place_send(struct iwarp_engine *engine);

/* rx_plan.c: a header has come, and what it says of those that follow it is remembered. */
void engine_plan_learn(struct iwarp_engine *engine);

/* timers.c: our first FPDU has gone out; more has been sent; the peer has sent something. */
void engine_nudge_start(struct iwarp_engine *engine, uint64_t now_us);
void engine_probe_sent(struct iwarp_engine *engine, uint64_t now_us);
void engine_probe_heard(struct iwarp_engine *engine, uint64_t now_us);

/* fpdu.c: the batch is taken from the environment, and given back when it is empty. */
bool engine_batch_get(struct iwarp_engine *engine);
void engine_batch_put(struct iwarp_engine *engine);
/* What goes out before the first start-up frame; 0 or -ENOMEM. */
int engine_preface_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes);
/* A start-up frame goes out; 0 or -ENOMEM. */
int engine_frame_send(struct iwarp_engine *engine, const struct mpa_frame *frame);
/* Each builds one FPDU into the batch; those that return false may not follow what is built already. */
void engine_terminate_build(struct iwarp_engine *engine);
bool engine_read_build(struct iwarp_engine *engine);
bool engine_nudge_build(struct iwarp_engine *engine);
bool engine_response_build(struct iwarp_engine *engine);
bool engine_wr_build(struct iwarp_engine *engine);

#endif
