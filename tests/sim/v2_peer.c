// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/v2_peer.h"

#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"

struct rig *rig;
struct raw *raw;
struct version_cache v2_memory;
uint32_t v2_credit;

struct rpcrdma_header v2_hdr;
const uint8_t *v2_body;
uint32_t v2_len;
struct xchar_operation v2_operation;

static const uint8_t pd_4096[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

static void speak_two(struct rig_side *side)
{
	side->config.highest_version = RPCRDMA_VERSION_TWO;
	side->config.characteristics = true;
	side->config.receive_max_bytes = V2_MAX_BYTES;
}

void v2_begin(const struct sim_faults *faults)
{
	fake_nfs_reset();
	rig = rig_new(faults);
	raw = NULL;
	v2_credit = 32;
	speak_two(&rig->client);
	speak_two(&rig->server);
	ck_assert_int_eq(version_cache_init(&v2_memory), 0);
	rig->client.config.version_cache = &v2_memory;
}

void v2_end(void)
{
	if (raw)
		raw_free(raw);
	rig_end(rig);
	version_cache_fini(&v2_memory);
}

void v2_run(uint32_t ms)
{
	rig_run_for(rig, (uint64_t)ms * 1000);
}

void v2_open(void)
{
	rig_connect(rig);
	v2_run(100);
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert_uint_eq(rig->server.opened, 1);
	ck_assert_uint_eq(v2_leg(&rig->client)->conn.limits.dialect->version, 2);
}

void v2_probe(void)
{
	if (!raw)
		raw = raw_new(rig, pd_4096, sizeof(pd_4096));
	rig->raw_server = raw;
	rig_connect(rig);
	v2_run(1);
	ck_assert(raw->established);
	ck_assert_uint_eq(rig->client.opened, 0);
}

void v2_open_client(void)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_send_init(v2_hdr.xid, V2_FIRST_BYTES, false);
	ck_assert_uint_eq(rig->client.opened, 1);
}

void v2_open_server(void)
{
	if (!raw)
		raw = raw_new(rig, pd_4096, sizeof(pd_4096));
	raw_connect(raw);
	ck_assert_uint_eq(rig->server.opened, 1);
}

void v2_settle(void)
{
	v2_send_init(1, V2_FIRST_BYTES, true);
	v2_next_option(XCHAR_INIT);
	ck_assert_uint_eq(v2_hdr.xid, 1);
	v2_send_call(RPCRDMA_VERSION_TWO, 2, RIG_CALL_MIN, 100);
	v2_next_reply(RPCRDMA_VERSION_TWO, 2, 100);
}

struct rig_side *v2_meet(int role)
{
	if (role) {
		v2_open_client();
		return &rig->client;
	}
	v2_open_server();
	v2_settle();
	return &rig->server;
}

struct rdma_leg *v2_leg(struct rig_side *side)
{
	ck_assert_ptr_nonnull(side->leg);
	return rdma_leg_of(side->leg);
}

void v2_raise(struct rig_side *side, uint32_t bytes)
{
	struct optional_msgs *options = v2_leg(side)->options;

	characteristics_raise(&options->ch, bytes);
	optional_msgs_run(options);
}

void v2_ask(struct rig_side *side, uint32_t bytes)
{
	struct optional_msgs *options = v2_leg(side)->options;

	characteristics_request_size(&options->ch, bytes);
	optional_msgs_run(options);
}

uint32_t v2_size(struct rig_side *side)
{
	return characteristics_advertised_size(&v2_leg(side)->options->ch);
}

void v2_no_sim_error(void)
{
	const struct sim_stats *stats = sim_net_stats(rig->net);

	ck_assert_uint_eq(stats->overlong, 0);
	ck_assert_uint_eq(stats->overruns, 0);
	ck_assert_uint_eq(stats->access_errors, 0);
}

/* ---- what it sends ---- */

static void post(const struct rpcrdma_header *hdr, const uint8_t *body, size_t body_bytes)
{
	static uint8_t bytes[128 * 1024];
	size_t n = rpcrdma_header_encode(hdr, bytes, sizeof(bytes));

	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(n + body_bytes, sizeof(bytes));
	if (body_bytes)
		memcpy(bytes + n, body, body_bytes);
	raw_post_send(raw, bytes, n + body_bytes);
}

static void run_step(void)
{
	rig_run_for(rig, raw->step_us);
}

void v2_post_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_TWO, v2_credit, RPCRDMA_OPTIONAL);
	hdr.opttype = opttype;
	hdr.optinfo = info;
	hdr.optinfo_bytes = info_bytes;
	post(&hdr, NULL, 0);
}

void v2_send_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes)
{
	v2_post_option(xid, opttype, info, info_bytes);
	run_step();
}

void v2_send_init(uint32_t xid, uint32_t recv_bytes, bool invalidate)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, recv_bytes},
					     {XCHAR_RQREMINV, true, invalidate},
					     {XCHAR_BRS, true, XCHAR_BRS_SZLIM}};
	uint8_t info[64];

	v2_send_option(xid, XCHAR_INIT, info,
		       (uint32_t)xchar_encode_init(info, sizeof(info), values, 3, 0));
}

void v2_send_req(uint32_t xid, uint32_t recv_bytes)
{
	const struct xchar_value value = {XCHAR_RBSIZ, true, recv_bytes};
	uint8_t info[32];

	v2_send_option(xid, XCHAR_REQ, info,
		       (uint32_t)xchar_encode_req(info, sizeof(info), &value, 1));
}

void v2_send_resp(uint32_t xid, unsigned sets)
{
	uint8_t info[XCHAR_SETS * 8];
	struct xdr_writer writer;

	xdr_writer_init(&writer, info, sizeof(info));
	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		bool has = sets & 1u << set;

		xdr_put_u32(&writer, has);
		if (has)
			xdr_put_u32(&writer, 1);
	}
	v2_send_option(xid, XCHAR_RESP, info, (uint32_t)xdr_written_bytes(&writer));
}

void v2_send_upd(uint32_t id, uint32_t value, bool pendclr)
{
	static uint32_t xid = 0x55000000;
	const struct xchar_value upd = {id, true, value};
	uint8_t info[32];

	v2_send_option(xid++, XCHAR_UPD, info,
		       (uint32_t)xchar_encode_upd(info, sizeof(info), &upd, pendclr));
}

void v2_send_call(uint32_t vers, uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes)
{
	struct rpcrdma_header hdr;
	uint8_t call[8192];

	rpcrdma_header_init(&hdr, xid, vers, 32, RPCRDMA_MSG);
	rig_fill_call(call, call_bytes, xid, reply_bytes);
	post(&hdr, call, call_bytes);
	run_step();
}

void v2_send_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes, uint32_t credit)
{
	struct rpcrdma_header hdr;
	uint8_t reply[8192];

	rpcrdma_header_init(&hdr, xid, vers, credit, RPCRDMA_MSG);
	rig_fill_reply(reply, reply_bytes, xid);
	post(&hdr, reply, reply_bytes);
	run_step();
}

void v2_send_error(uint32_t xid, enum rpcrdma_err err)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_TWO, 32, RPCRDMA_ERROR);
	hdr.error = err;
	post(&hdr, NULL, 0);
	run_step();
}

void v2_send_err_vers(uint32_t xid, uint32_t low, uint32_t high)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_VERS;
	hdr.vers_low = low;
	hdr.vers_high = high;
	post(&hdr, NULL, 0);
	run_step();
}

/* ---- what comes to it ---- */

void v2_next(void)
{
	raw_next_header(raw, &v2_hdr, &v2_body, &v2_len);
}

void v2_next_option(enum xchar_op op)
{
	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, 2);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_OPTIONAL);
	ck_assert_uint_eq(v2_hdr.opttype, op);
	ck_assert_uint_ge(v2_hdr.credit, 1);
	ck_assert_int_eq(xchar_decode(op, v2_hdr.optinfo, v2_hdr.optinfo_bytes, &v2_operation),
			 XCHAR_OK);
}

void v2_next_call(uint32_t vers)
{
	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, vers);
	ck_assert_uint_le(v2_hdr.proc, RPCRDMA_NOMSG);
}

void v2_next_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes)
{
	uint8_t want[8192];

	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, vers);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	ck_assert_uint_eq(v2_len, reply_bytes);
	rig_fill_reply(want, reply_bytes, xid);
	ck_assert_mem_eq(v2_body, want, reply_bytes);
}

void v2_silence(void)
{
	ck_assert_uint_eq(raw->nread, raw->nrecvs);
}

uint32_t v2_value(enum xchar_id id)
{
	struct xchar_spec spec = v2_operation.spec;
	struct xchar_value value;

	while (xchar_next(&spec, &value))
		if (value.id == id)
			return value.value;
	ck_abort_msg("nothing of characteristic %d", id);
}

enum xchar_set v2_verdict(uint32_t n)
{
	enum xchar_set found = XCHAR_SETS;

	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		if (!xchar_subset_has(&v2_operation.sets[set], n))
			continue;
		ck_assert_uint_eq(found, XCHAR_SETS);
		found = set;
	}
	ck_assert_uint_ne(found, XCHAR_SETS);
	return found;
}
