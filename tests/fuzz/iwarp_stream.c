// SPDX-License-Identifier: BSD-3-Clause
/*
 * An engine whose peer sends the input, three times: in one piece, in many, and so that nothing is
 * received directly into its expected place. Each time the engine must come to the same end, place
 * the bytes that the peer sent, write only where the peer was allowed to, and complete everything
 * once.
 *
 * Input: a byte of settings (bit 0: CRC; bit 1: the stream starts with the start-up frame, else the
 * target sends it; bit 2: half of the memory exposed for Reads is not ready yet), a byte that seeds
 * the cuts, then steps:
 *
 *	0 n bytes               unchanged
 *	1 control where offset(2) length(2)           a tagged segment
 *	2 control where qn msn mo(2) length(2)        an untagged segment
 *	3 control where offset(2) msn size(4)         a Read Request
 *
 * `where` selects an STag, offsets and numbers are relative to the right ones, and lengths are of
 * payload.
 */
#include "tests/fuzz/iwarp_stream.h"

#include <string.h>

#include "base/be_bytes.h"
#include "base/crc32c.h"
#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/engine.h"
#include "fabric/iwarp/mpa.h"
#include "fabric/iwarp/proto.h"
#include "tests/fuzz/fuzz.h"

#define BUF_BYTES        65536u
#define KEY_OFFSET       1024u
#define KEY_BYTES        32000u
#define READ_BYTES       16000u
#define RECV_BYTES       2048u
#define SMALL_RECV_BYTES 100u
#define MAX_PAYLOAD      14000u
#define MAX_WIRE         (256u * 1024u)
#define READS            2u
#define CANARY           0xc3

struct run;

struct post {
	struct fabric_wr wr;
	struct run *run;
	bool done;
};

struct run {
	struct buf_pool *pool;
	struct iwarp_env env;
	struct iwarp_counters counters;
	struct iwarp_engine *engine;
	struct fabric_ep_params params;
	struct buf *given, *lent, *sink, *outgoing;
	struct fabric_key readable, writable;
	bool writable_bound, late;
	struct post reads[READS], sends[4];
	unsigned nsends, posted, done;
	unsigned established, recvs;
	uint32_t hash;
	uint8_t out[65536];
	size_t out_bytes;
	uint32_t sink_stag[READS];
	uint64_t sink_to[READS];
};

static uint8_t staging[IWARP_RX_STAGING_BYTES];

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct post *post = container_of(wr, struct post, wr);

	FUZZ_ASSERT(!post->done);
	post->done = true;
	post->run->done++;
}

static void on_unbound(struct fabric_key *key)
{
}

static void wr_post(struct run *run, struct post *post, enum fabric_wr_op op, struct buf *buf,
		    uint32_t offset, uint32_t len)
{
	struct fabric_wr *wr = &post->wr;

	memset(post, 0, sizeof(*post));
	post->run = run;
	wr->op = op;
	wr->nsge = 1;
	wr->sge[0].buf = buf;
	wr->sge[0].addr = buf->mem + offset;
	wr->sge[0].len_bytes = len;
	wr->rkey = 7;
	wr->raddr = 9;
	wr->done = on_done;
	if (iwarp_engine_post(run->engine, wr) == 0)
		run->posted++;
}

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct run *run = arg;

	FUZZ_ASSERT(len_bytes <= MPA_MAX_PRIVATE_DATA);
	FUZZ_ASSERT(iwarp_engine_accept(run->engine, &run->params, 0) == 0);
}

static void key_lend(struct run *run, struct fabric_key *key, struct buf *buf, unsigned rights)
{
	memset(key, 0, sizeof(*key));
	key->buf = buf;
	key->mem = buf->mem + KEY_OFFSET;
	key->len_bytes = key->ready_bytes = KEY_BYTES;
	key->rights = rights;
	key->unbound = on_unbound;
	FUZZ_ASSERT(iwarp_engine_key_bind(run->engine, key) == 0);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct run *run = arg;

	FUZZ_ASSERT(run->established++ == 0);
	key_lend(run, &run->readable, run->given, FABRIC_REMOTE_READ);
	if (run->late)
		run->readable.ready_bytes = KEY_BYTES / 2;
	key_lend(run, &run->writable, run->lent, FABRIC_REMOTE_WRITE);
	run->writable_bound = true;
	for (unsigned i = 0; i < READS; i++)
		wr_post(run, &run->reads[i], FABRIC_READ, run->sink, KEY_OFFSET + i * READ_BYTES,
			READ_BYTES);
}

/* The owner does what the message says, from inside the engine's call. */
static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct run *run = arg;
	uint8_t first = recv->len_bytes ? recv->data[0] : 0;

	FUZZ_ASSERT(recv->len_bytes <= recv->size_bytes && recv->size_bytes <= RECV_BYTES);
	run->recvs++;
	for (uint32_t i = 0; i < recv->len_bytes; i++)
		run->hash = run->hash * 31 + recv->data[i];
	if ((first & 1) && run->writable_bound) {
		run->writable_bound = false;
		FUZZ_ASSERT(iwarp_engine_key_unbind(run->engine, &run->writable));
	}
	if ((first & 2) && run->nsends < 4)
		wr_post(run, &run->sends[run->nsends++], FABRIC_SEND, run->outgoing, 0, 3000);
	if (first & 32)
		run->readable.ready_bytes = KEY_BYTES;
	if (first & 4)
		iwarp_engine_close(run->engine, 0);
	if (!(first & 8))
		iwarp_engine_recv_post(run->engine, 1, first & 16 ? SMALL_RECV_BYTES : RECV_BYTES);
}

static void on_note(void *arg, const char *text)
{
	FUZZ_ASSERT(strlen(text) < 256);
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.note = on_note,
};

static void output_take(struct run *run)
{
	const struct iovec *iov;
	unsigned niov;

	while ((niov = iwarp_engine_tx_plan(run->engine, &iov)) > 0) {
		size_t step = 0;

		for (unsigned i = 0; i < niov; i++) {
			if (run->out_bytes + step + iov[i].iov_len > sizeof(run->out))
				return;
			memcpy(run->out + run->out_bytes + step, iov[i].iov_base, iov[i].iov_len);
			step += iov[i].iov_len;
		}
		run->out_bytes += step;
		iwarp_engine_tx_done(run->engine, step, 0);
	}
}

/*
 * How the stream comes: what is not cut comes as the engine plans, or up to the end of what it
 * knows.
 */
#define WHOLE 0u
#define KNOWN UINT32_MAX

static void give(struct run *run, const uint8_t *bytes, size_t len, uint32_t cuts)
{
	while (len > 0) {
		struct iovec iov[IWARP_RX_MAX_IOV];
		unsigned niov = iwarp_engine_rx_plan(run->engine, staging, iov);
		size_t want = len, step = 0;

		if (cuts == KNOWN) {
			niov = 1;
		} else if (cuts) {
			static const size_t scales[] = {1, 3, 20, 5000};

			cuts = cuts * 1664525u + 1013904223u;
			want = 1 + (cuts >> 16) % scales[cuts >> 30];
			if (want > len)
				want = len;
		}
		FUZZ_ASSERT(niov >= 1 && niov <= IWARP_RX_MAX_IOV);
		for (unsigned i = 0; i < niov && step < want; i++) {
			size_t part = iov[i].iov_len < want - step ? iov[i].iov_len : want - step;

			memcpy(iov[i].iov_base, bytes + step, part);
			step += part;
		}
		FUZZ_ASSERT(step > 0);
		iwarp_engine_rx_done(run->engine, step, 0);
		bytes += step;
		len -= step;
	}
}

static struct run *run_new(bool initiator, uint8_t settings)
{
	static const uint64_t seed[4] = {1, 2, 3, 4};
	bool crc = settings & 1, set_up = !(settings & 2);
	struct iwarp_config config = {.crc = crc, .fpdu = IWARP_FPDU_64K};
	struct mpa_frame frame = {.revision = 2, .crc = crc, .enhanced = true, .ird = 4, .ord = 4};
	uint8_t bytes[MPA_MAX_FRAME_BYTES];
	struct run *run = calloc(1, sizeof(*run));

	FUZZ_ASSERT(run);
	run->late = settings & 4;
	run->pool = buf_pool_new(65536, 8u << 20);
	run->env.pool = run->pool;
	run->env.counters = &run->counters;
	iwarp_random_seed(&run->env.random, seed);
	run->params = (struct fabric_ep_params){
		.ird = 4, .ord = 4, .recv_size_bytes = RECV_BYTES, .recv_count = 4};
	run->given = buf_get(run->pool, BUF_BYTES);
	run->lent = buf_get(run->pool, BUF_BYTES);
	run->sink = buf_get(run->pool, BUF_BYTES);
	run->outgoing = buf_get(run->pool, BUF_BYTES);
	memset(run->given->mem, CANARY, BUF_BYTES);
	memset(run->lent->mem, CANARY, BUF_BYTES);
	memset(run->sink->mem, CANARY, BUF_BYTES);
	memset(run->outgoing->mem, 0x55, BUF_BYTES);
	run->engine = iwarp_engine_new(&run->env, &config, &events, run);
	FUZZ_ASSERT(run->engine);
	if (initiator)
		FUZZ_ASSERT(iwarp_engine_connect(run->engine, &run->params, 0) == 0);
	else
		iwarp_engine_await_request(run->engine, 0);
	output_take(run);
	if (!set_up)
		return run;
	frame.reply = initiator;
	give(run, bytes, mpa_frame_encode(&frame, bytes), WHOLE);
	run->out_bytes = 0;
	if (!initiator) {
		/* A first FPDU, so that we may send our Read Requests. */
		static const uint8_t hello[20] = {0x00, 0x0e, 0xc1, 0x40};
		uint8_t fpdu[20];

		memcpy(fpdu, hello, sizeof(fpdu));
		if (crc)
			mpa_crc_store(crc32c_add(CRC32C_START, fpdu, 16), fpdu + 16);
		output_take(run);
		run->out_bytes = 0;
		give(run, fpdu, sizeof(fpdu), WHOLE);
	}
	output_take(run);
	for (unsigned i = 0; i < READS && run->out_bytes >= (i + 1) * 52; i++) {
		struct rdmap_read read;

		rdmap_read_decode(run->out + i * 52 + 20, &read);
		run->sink_stag[i] = read.sink_stag;
		run->sink_to[i] = read.sink_to;
	}
	return run;
}

static void canaries_check(const struct buf *buf)
{
	uint8_t canary[BUF_BYTES];

	memset(canary, CANARY, sizeof(canary));
	FUZZ_ASSERT(memcmp(buf->mem, canary, KEY_OFFSET) == 0);
	FUZZ_ASSERT(memcmp(buf->mem + KEY_OFFSET + KEY_BYTES, canary,
			   BUF_BYTES - KEY_OFFSET - KEY_BYTES) == 0);
}

static void run_free(struct run *run)
{
	iwarp_engine_flush(run->engine);
	FUZZ_ASSERT(run->done == run->posted);
	if (run->established) {
		FUZZ_ASSERT(iwarp_engine_key_unbind(run->engine, &run->readable));
		if (run->writable_bound)
			FUZZ_ASSERT(iwarp_engine_key_unbind(run->engine, &run->writable));
	}
	iwarp_engine_free(run->engine);
	iwarp_env_fini(&run->env);
	canaries_check(run->given);
	canaries_check(run->lent);
	canaries_check(run->sink);
	buf_put(run->given);
	buf_put(run->lent);
	buf_put(run->sink);
	buf_put(run->outgoing);
	buf_pool_free(run->pool);
	free(run);
}

/* The peer: what is right next, and the bytes made so far. */
struct peer {
	const struct run *run;
	const uint8_t *in, *end;
	bool crc;
	uint32_t send_msn, read_msn, reads;
	uint8_t *wire;
	size_t len;
};

static uint8_t next8(struct peer *peer)
{
	return peer->in < peer->end ? *peer->in++ : 0;
}

static uint16_t next16(struct peer *peer)
{
	uint16_t high = next8(peer);

	return (uint16_t)(high << 8 | next8(peer));
}

static uint32_t next32(struct peer *peer)
{
	uint32_t high = next16(peer);

	return high << 16 | next16(peer);
}

/*
 * No two stretches of it are alike, so that a payload is known from one that lies a little off its
 * place.
 */
static const uint8_t *content(void)
{
	static uint8_t bytes[MAX_PAYLOAD];
	static bool made;

	for (size_t i = 0; i < sizeof(bytes) && !made; i++)
		bytes[i] = (uint8_t)(i * 37 + i / 256);
	made = true;
	return bytes;
}

static void fpdu_add(struct peer *peer, const uint8_t *header, size_t header_bytes, size_t payload,
		     bool spoil)
{
	size_t ulpdu = header_bytes + payload, total = MPA_LENGTH_BYTES + ulpdu;
	size_t padded = (total + 3) & ~(size_t)3;
	uint8_t *at = peer->wire + peer->len;

	if (peer->len + padded + MPA_CRC_BYTES > MAX_WIRE)
		return;
	memset(at, 0, padded + MPA_CRC_BYTES);
	be16_put(at, (uint16_t)ulpdu);
	memcpy(at + MPA_LENGTH_BYTES, header, header_bytes);
	memcpy(at + MPA_LENGTH_BYTES + header_bytes, content(), payload);
	if (payload)
		at[MPA_LENGTH_BYTES + header_bytes] = (uint8_t)payload;
	if (peer->crc)
		mpa_crc_store(crc32c_add(CRC32C_START, at, padded), at + padded);
	at[padded] ^= spoil;
	peer->len += padded + MPA_CRC_BYTES;
}

static uint32_t stag_pick(struct peer *peer, uint8_t where, uint64_t *to)
{
	const struct run *run = peer->run;
	unsigned sink = peer->reads % READS;

	*to = 0;
	switch (where & 3) {
	case 0:
		*to = run->writable.addr;
		return run->writable.rkey;
	case 1:
		*to = run->readable.addr;
		return run->readable.rkey;
	case 2:
		*to = run->sink_to[sink];
		return run->sink_stag[sink];
	default:
		return next32(peer);
	}
}

/*
 * Control: bits 0-3 opcode, 4 not last, 5 DDP version, 6 RDMAP version, 7 CRC; those wrong if set.
 */
static struct ddp_header header_make(uint8_t control)
{
	return (struct ddp_header){
		.last = !(control & 0x10),
		.ddp_version = control & 0x20 ? 2 : DDP_VERSION,
		.rdmap_version = control & 0x40 ? 0 : RDMAP_VERSION,
		.opcode = control & 0x0f,
	};
}

static void tagged_step(struct peer *peer)
{
	uint8_t control = next8(peer), bytes[DDP_TAGGED_BYTES];
	struct ddp_header header = header_make(control);
	uint64_t to;

	header.tagged = true;
	header.stag = stag_pick(peer, next8(peer), &to);
	header.to = to + (uint64_t)(int64_t)(int16_t)next16(peer);
	ddp_header_encode(&header, bytes);
	fpdu_add(peer, bytes, sizeof(bytes), next16(peer) % MAX_PAYLOAD, control & 0x80);
	if (header.opcode == RDMAP_READ_RESPONSE && header.last)
		peer->reads++;
}

static void untagged_step(struct peer *peer)
{
	uint8_t control = next8(peer), bytes[DDP_UNTAGGED_BYTES];
	struct ddp_header header = header_make(control);
	uint64_t to;

	header.stag = stag_pick(peer, next8(peer), &to);
	header.qn = next8(peer);
	header.msn = peer->send_msn + next8(peer);
	header.mo = next16(peer);
	ddp_header_encode(&header, bytes);
	fpdu_add(peer, bytes, sizeof(bytes), next16(peer) % MAX_PAYLOAD, control & 0x80);
	peer->send_msn += header.last;
}

static void read_step(struct peer *peer)
{
	uint8_t control = next8(peer), bytes[DDP_MAX_BYTES];
	struct ddp_header header = header_make((uint8_t)((control & 0xf0) | RDMAP_READ_REQUEST));
	struct rdmap_read read = {.sink_stag = 0x11223344, .sink_to = 0x5566778899aabbcc};

	read.source_stag = stag_pick(peer, next8(peer), &read.source_to);
	read.source_to += (uint64_t)(int64_t)(int16_t)next16(peer);
	header.qn = DDP_QN_READ;
	header.msn = peer->read_msn++ + next8(peer);
	read.size_bytes = next32(peer);
	ddp_header_encode(&header, bytes);
	rdmap_read_encode(&read, bytes + DDP_UNTAGGED_BYTES);
	fpdu_add(peer, bytes, sizeof(bytes), 0, control & 0x80);
}

static void raw_step(struct peer *peer)
{
	size_t n = next8(peer), left = (size_t)(peer->end - peer->in);

	if (n > left)
		n = left;
	if (peer->len + n > MAX_WIRE)
		return;
	memcpy(peer->wire + peer->len, peer->in, n);
	peer->in += n;
	peer->len += n;
}

static void wire_make(struct peer *peer)
{
	while (peer->in < peer->end) {
		switch (next8(peer) & 3) {
		case 0:
			raw_step(peer);
			break;
		case 1:
			tagged_step(peer);
			break;
		case 2:
			untagged_step(peer);
			break;
		case 3:
			read_step(peer);
			break;
		}
	}
}

/* Who speaks something else is told by as many of its first bytes as had come. */
static bool is_denied(const char *detail)
{
	return strstr(detail, "first bytes are") || strstr(detail, "looks like");
}

/* What the peer has not written is undefined. */
static void written_check(const struct buf *buf, const struct buf *known)
{
	if (memcmp(buf->mem, known->mem, BUF_BYTES) == 0)
		return;
	for (unsigned i = 0; i < BUF_BYTES; i++)
		FUZZ_ASSERT(buf->mem[i] == known->mem[i] || known->mem[i] == CANARY);
}

/* Of @b nothing was received where it was only expected to belong. */
static void same_check(struct run *a, struct run *b)
{
	const char *detail_a, *detail_b;

	FUZZ_ASSERT(iwarp_engine_action(a->engine) == iwarp_engine_action(b->engine));
	FUZZ_ASSERT(iwarp_engine_close_reason(a->engine, &detail_a) ==
		    iwarp_engine_close_reason(b->engine, &detail_b));
	FUZZ_ASSERT(strcmp(detail_a, detail_b) == 0 ||
		    (is_denied(detail_a) && is_denied(detail_b)));
	FUZZ_ASSERT(a->recvs == b->recvs && a->hash == b->hash && a->done == b->done);
	FUZZ_ASSERT(a->out_bytes == b->out_bytes && memcmp(a->out, b->out, a->out_bytes) == 0);
	FUZZ_ASSERT(memcmp(a->given->mem, b->given->mem, BUF_BYTES) == 0);
	written_check(a->lent, b->lent);
	written_check(a->sink, b->sink);
	/* How much could be received in place depends on the pieces; nothing else does. */
	a->counters.payload_bytes_copied = b->counters.payload_bytes_copied = 0;
	FUZZ_ASSERT(memcmp(&a->counters, &b->counters, sizeof(a->counters)) == 0);
}

void iwarp_stream_fuzz(bool initiator, const uint8_t *data, size_t size)
{
	struct run *known, *others[2];
	struct peer peer = {.send_msn = 1, .read_msn = 1};

	if (size < 2)
		return;
	known = run_new(initiator, data[0]);
	peer.run = known;
	peer.in = data + 2;
	peer.end = data + size;
	peer.crc = data[0] & 1;
	peer.wire = malloc(MAX_WIRE);
	FUZZ_ASSERT(peer.wire);
	wire_make(&peer);
	for (unsigned i = 0; i < 2; i++) {
		others[i] = run_new(initiator, data[0]);
		give(others[i], peer.wire, peer.len, i ? 1u + data[1] : WHOLE);
		output_take(others[i]);
	}
	give(known, peer.wire, peer.len, KNOWN);
	output_take(known);
	for (unsigned i = 0; i < 2; i++) {
		same_check(others[i], known);
		run_free(others[i]);
	}
	free(peer.wire);
	run_free(known);
}
