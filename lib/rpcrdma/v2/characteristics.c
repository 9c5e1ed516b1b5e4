// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/characteristics.h"

#include <assert.h>

#include "base/minmax.h"

STATE_TABLE(characteristics_receives_states, CHARACTERISTICS_RECEIVES_STATES);
STATE_TABLE(characteristics_size_request_states, CHARACTERISTICS_SIZE_REQUEST_STATES);

/* ---- a REQ of the peer, by ids, and its RESP, by elements ---- */

static uint64_t words(uint32_t elements)
{
	return ((uint64_t)elements + 31) / 32;
}

/*
 * Returns true if a RESP with @count elements fits: the first @mixed in any subset, the others
 * rejected.
 */
static bool resp_fits(uint32_t count, uint32_t mixed)
{
	return 4 * (XCHAR_SETS + words(count) + 2 * words(mixed)) <= CHARACTERISTICS_RESP_BYTES;
}

/*
 * Reads a REQ with @spec; all values are rejected at first. If the RESP could be too long for
 * individual verdicts, all stay rejected: `known` is 0. Returns false if even that RESP would be
 * too long.
 */
static bool request_receive(struct characteristics_request *request, uint32_t xid,
			    struct xchar_spec *spec)
{
	uint32_t count = spec->left, mixed = 0;
	bool fits = true;
	struct xchar_value value;

	*request = (struct characteristics_request){.xid = xid, .count = count};
	if (!resp_fits(count, 0))
		return false;
	for (uint32_t n = 0; xchar_next(spec, &value); n++) {
		if (!value.known)
			continue;
		request->wanted[value.id] = true;
		request->value[value.id] = value.value;
		mixed = n + 1;
		fits &= request->known < CHARACTERISTICS_KNOWN_MAX;
		if (fits) {
			request->elements[request->known].element = n;
			request->elements[request->known++].id = value.id;
		}
	}
	for (uint32_t id = 0; id <= XCHAR_ID_MAX; id++)
		request->verdict[id] = XCHAR_REJ;
	if (!fits || !resp_fits(count, mixed))
		request->known = 0;
	return true;
}

static enum xchar_set set_of(void *arg, uint32_t n)
{
	const struct characteristics_request *request = arg;
	unsigned low = 0, high = request->known;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (request->elements[middle].element < n)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < request->known && request->elements[low].element == n)
		return request->verdict[request->elements[low].id];
	return XCHAR_REJ;
}

/* Encodes the RESP into @to. Returns its length, or 0 if @capacity is too small. */
static size_t request_resp(struct characteristics_request *request, uint8_t *to, size_t capacity)
{
	return xchar_encode_resp(to, capacity, request->count, set_of, request);
}

static void set_receives(struct characteristics *ch, enum characteristics_receives_state to)
{
	ch->receives = state_next(&characteristics_receives_states, ch->receives, to);
}

static void set_size_request(struct characteristics *ch, enum characteristics_size_request_state to)
{
	ch->size_request = state_next(&characteristics_size_request_states, ch->size_request, to);
	if (to == SIZE_REQUEST_NONE)
		ch->pending_req_bytes = 0;
}

static uint32_t own_max_bytes(const struct characteristics *ch)
{
	return max_u32(ch->config.receive_max_bytes, ch->config.recv_bytes);
}

void characteristics_init(struct characteristics *ch, const struct characteristics_config *config)
{
	assert(config->recv_bytes >= XCHAR_RBSIZ_DEFAULT);
	*ch = (struct characteristics){.config = *config, .posted_bytes = config->recv_bytes};
}

/* ---- messages to be sent ---- */

static void make_message(struct characteristics *ch, struct characteristics_message *message,
			 enum xchar_op op, size_t info_bytes)
{
	assert(info_bytes);
	message->op = op;
	message->answers = false;
	message->xid = 0;
	message->info_bytes = (uint32_t)info_bytes;
	ch->step_op = op;
}

static void make_init(struct characteristics *ch, struct characteristics_message *message)
{
	const struct xchar_value values[] = {
		{XCHAR_RBSIZ, true, characteristics_advertised_size(ch)},
		{XCHAR_RQREMINV, true, ch->config.invalidate},
		{XCHAR_BRS, true, ch->config.reverse},
	};
	bool advertises = ch->config.enabled;

	/* All but the receive size are constant (B4.1-3). */
	make_message(ch, message, XCHAR_INIT,
		     xchar_encode_init(message->info, sizeof(message->info), values,
				       advertises ? ARRAY_SIZE(values) : 0, advertises ? 0x6 : 0));
}

static void init_is_sent(struct characteristics *ch)
{
	ch->own_init_sent = true;
	ch->init_due = false;
	if (ch->config.enabled)
		ch->advertised_bytes = characteristics_advertised_size(ch);
}

void characteristics_first_init(struct characteristics *ch, struct characteristics_message *message)
{
	assert(ch->config.connector);
	make_init(ch, message);
	ch->step_op = 0;
	init_is_sent(ch);
}

static void make_size(struct characteristics *ch, struct characteristics_message *message,
		      enum xchar_op op, uint32_t bytes, bool pendclr)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, bytes};

	ch->step_bytes = bytes;
	make_message(
		ch, message, op,
		op == XCHAR_UPD
			? xchar_encode_upd(message->info, sizeof(message->info), &size, pendclr)
			: xchar_encode_req(message->info, sizeof(message->info), &size, 1));
}

/* ---- what the peer advertises ---- */

/* Drops a queued request, since the size has changed. A revert continues with the new size. */
static void change_queued_size_request(struct characteristics *ch, uint32_t bytes)
{
	if (characteristics_has_pending_req(ch))
		ch->size_request_bytes = bytes;
	else
		set_size_request(ch, SIZE_REQUEST_NONE);
}

static void store_value(struct characteristics *ch, uint32_t id, uint32_t value, unsigned *what)
{
	if (id == XCHAR_RBSIZ) {
		uint32_t bytes = xchar_size(value);

		if (bytes < characteristics_peer_size(ch) &&
		    !(characteristics_has_pending_req(ch) && bytes >= ch->pending_req_bytes))
			*what |= CHARACTERISTICS_LOWERED;
		/* The queued request was derived from the old size. */
		if (bytes != characteristics_peer_size(ch) &&
		    ch->size_request == SIZE_REQUEST_QUEUED)
			change_queued_size_request(ch, bytes);
		if (!ch->peer_first_bytes)
			ch->peer_first_bytes = bytes;
	}
	if (ch->constant[id] && value != ch->value[id])
		*what |= CHARACTERISTICS_INCONSTANT;
	ch->advertised[id] = true;
	ch->value[id] = value;
}

static void receive_init(struct characteristics *ch, uint32_t xid,
			 struct xchar_operation *operation, unsigned *what)
{
	bool here[XCHAR_ID_MAX + 1] = {false}, constant[XCHAR_ID_MAX + 1] = {false};
	uint32_t values[XCHAR_ID_MAX + 1] = {0};
	struct xchar_value value;

	for (uint32_t n = 0; xchar_next(&operation->spec, &value); n++) {
		if (!value.known)
			continue;
		here[value.id] = true;
		values[value.id] = value.value;
		constant[value.id] = xchar_subset_has(&operation->nochg, n);
	}
	for (uint32_t id = 1; id <= XCHAR_ID_MAX; id++) {
		if (!here[id])
			continue;
		store_value(ch, id, values[id], what);
		ch->constant[id] |= constant[id];
	}
	if (!ch->config.connector && !ch->own_init_sent) {
		ch->init_due = true;
		ch->init_xid = xid;
	}
}

static void receive_resp(struct characteristics *ch, uint32_t xid,
			 const struct xchar_operation *operation, unsigned *what)
{
	unsigned sets = 0;

	if (ch->size_request != SIZE_REQUEST_OPEN || xid != ch->size_request_xid) {
		*what |= CHARACTERISTICS_STRAY;
		return;
	}
	for (unsigned set = 0; set < XCHAR_SETS; set++)
		if (xchar_subset_has(&operation->sets[set], 0))
			sets |= 1u << set;
	switch (sets) {
	case 1u << XCHAR_DONE:
		store_value(ch, XCHAR_RBSIZ, ch->size_request_bytes, what);
		set_size_request(ch, SIZE_REQUEST_NONE);
		return;
	case 1u << XCHAR_PEND:
		set_size_request(ch, SIZE_REQUEST_PENDING);
		return;
	case 1u << XCHAR_REJ:
		break;
	default:
		*what |= CHARACTERISTICS_CONFUSED;
	}
	*what |= CHARACTERISTICS_REJECTED;
	set_size_request(ch, SIZE_REQUEST_NONE);
}

static void receive_upd(struct characteristics *ch, struct xchar_operation *operation,
			unsigned *what)
{
	struct xchar_value value;
	bool of_size;

	if (!xchar_next(&operation->spec, &value) || !value.known)
		return;
	store_value(ch, value.id, value.value, what);
	of_size = value.id == XCHAR_RBSIZ;
	if (!operation->pendclr || (of_size && ch->size_request == SIZE_REQUEST_OPEN))
		return; /* the RESP, still to come, shows whether a request is pending */
	if (!of_size || !characteristics_has_pending_req(ch)) {
		*what |= CHARACTERISTICS_UNASKED;
		return;
	}
	if (ch->size_request == SIZE_REQUEST_PENDING &&
	    characteristics_peer_size(ch) != ch->size_request_bytes)
		*what |= CHARACTERISTICS_REJECTED;
	set_size_request(ch, SIZE_REQUEST_NONE);
}

/* ---- what the peer requests ---- */

/* Rejects a receive size, which also ends what was pending for an older REQ. */
static void reject_size(struct characteristics *ch)
{
	ch->size_undecided = false;
	ch->request.verdict[XCHAR_RBSIZ] = XCHAR_REJ;
	if (ch->receives == RECEIVES_PENDING)
		set_receives(ch, RECEIVES_CLEARING);
}

static void receive_req(struct characteristics *ch, uint32_t xid, struct xchar_operation *operation,
			unsigned *what)
{
	struct characteristics_request *request = &ch->request;
	uint32_t bytes;

	if (!request_receive(request, xid, &operation->spec)) {
		*what |= CHARACTERISTICS_UNANSWERED;
		return;
	}
	ch->resp_due = true;
	if (request->value[XCHAR_RQREMINV] == ch->config.invalidate)
		request->verdict[XCHAR_RQREMINV] = XCHAR_DONE;
	if (request->value[XCHAR_BRS] == ch->config.reverse)
		request->verdict[XCHAR_BRS] = XCHAR_DONE;
	bytes = xchar_size(request->value[XCHAR_RBSIZ]);
	request->value[XCHAR_RBSIZ] = bytes;
	ch->size_undecided = request->wanted[XCHAR_RBSIZ];
	if (ch->size_undecided && (!request->known || bytes > own_max_bytes(ch)))
		reject_size(ch);
}

enum xchar_verdict characteristics_receive(struct characteristics *ch, uint32_t xid,
					   uint32_t opttype, const uint8_t *info, size_t len,
					   unsigned *what)
{
	struct xchar_operation operation;
	enum xchar_verdict verdict;

	assert(!ch->init_due && !ch->resp_due);
	if (!ch->config.enabled)
		return XCHAR_UNKNOWN_OP;
	verdict = xchar_decode(opttype, info, len, &operation);
	if (verdict != XCHAR_OK)
		return verdict;
	*what = 0;
	ch->peer_understands = true;
	switch (operation.op) {
	case XCHAR_INIT:
		receive_init(ch, xid, &operation, what);
		break;
	case XCHAR_REQ:
		receive_req(ch, xid, &operation, what);
		break;
	case XCHAR_RESP:
		receive_resp(ch, xid, &operation, what);
		break;
	case XCHAR_UPD:
		receive_upd(ch, &operation, what);
		break;
	}
	return XCHAR_OK;
}

bool characteristics_rejected(struct characteristics *ch, uint32_t xid)
{
	if (ch->size_request != SIZE_REQUEST_OPEN || xid != ch->size_request_xid)
		return false;
	set_size_request(ch, SIZE_REQUEST_NONE);
	return true;
}

/* ---- what this end wants ---- */

/*
 * Returns true once both ends have sent INIT: an acceptor without the peer's INIT originates
 * nothing.
 */
static bool may_begin(const struct characteristics *ch)
{
	return ch->own_init_sent && ch->peer_understands;
}

void characteristics_raise(struct characteristics *ch, uint32_t bytes)
{
	bytes = min_u32(bytes, own_max_bytes(ch));
	if (!may_begin(ch) || ch->receives != RECEIVES_SETTLED ||
	    bytes <= characteristics_advertised_size(ch))
		return;
	ch->goal_bytes = bytes;
	set_receives(ch, RECEIVES_RAISING);
}

void characteristics_request_size(struct characteristics *ch, uint32_t bytes)
{
	uint32_t now = characteristics_peer_size(ch);
	bool is_raise = bytes > now;

	bytes = xchar_size(min_u32(bytes, ch->config.send_max_bytes));
	if (!may_begin(ch) || characteristics_has_pending_req(ch))
		return;
	if (ch->size_request == SIZE_REQUEST_QUEUED)
		set_size_request(ch, SIZE_REQUEST_NONE);
	if (is_raise ? bytes <= now : bytes == now)
		return;
	ch->size_request_bytes = bytes;
	set_size_request(ch, SIZE_REQUEST_QUEUED);
}

uint32_t characteristics_revertible_bytes(const struct characteristics *ch)
{
	bool lower = ch->size_request == SIZE_REQUEST_PENDING &&
		     ch->size_request_bytes < characteristics_peer_size(ch);

	return lower ? ch->size_request_bytes : UINT32_MAX;
}

void characteristics_revert_request(struct characteristics *ch)
{
	assert(characteristics_revertible_bytes(ch) != UINT32_MAX);
	ch->size_request_bytes = characteristics_peer_size(ch);
	set_size_request(ch, SIZE_REQUEST_QUEUED);
}

/* ---- steps ---- */

static enum characteristics_step resize(struct characteristics *ch, uint32_t bytes,
					uint32_t *recv_bytes)
{
	ch->step_bytes = *recv_bytes = bytes;
	return CHARACTERISTICS_RESIZE;
}

static enum characteristics_step next_resp(struct characteristics *ch,
					   const struct characteristics_snapshot *snapshot,
					   struct characteristics_message *message,
					   uint32_t *recv_bytes)
{
	struct characteristics_request *request = &ch->request;
	uint32_t bytes = request->value[XCHAR_RBSIZ];

	if (ch->size_undecided) {
		request->verdict[XCHAR_RBSIZ] = XCHAR_PEND;
		if (snapshot->counted_bytes <= bytes) {
			if (ch->posted_bytes != bytes)
				return resize(ch, bytes, recv_bytes);
			if (snapshot->smallest_bytes >= bytes)
				request->verdict[XCHAR_RBSIZ] = XCHAR_DONE;
		}
	}
	make_message(ch, message, XCHAR_RESP,
		     request_resp(request, message->info, sizeof(message->info)));
	message->answers = true;
	message->xid = request->xid;
	return CHARACTERISTICS_SEND;
}

static enum characteristics_step next_receives(struct characteristics *ch,
					       const struct characteristics_snapshot *snapshot,
					       struct characteristics_message *message,
					       uint32_t *recv_bytes)
{
	bool may_update = snapshot->may_update;

	/* A raise that is no longer wanted is undone. */
	if (ch->receives == RECEIVES_SETTLED)
		return ch->posted_bytes > characteristics_advertised_size(ch)
			       ? resize(ch, characteristics_advertised_size(ch), recv_bytes)
			       : CHARACTERISTICS_NOTHING;
	if (ch->receives != RECEIVES_CLEARING) {
		if (snapshot->counted_bytes > ch->goal_bytes)
			return CHARACTERISTICS_NOTHING;
		if (ch->posted_bytes != ch->goal_bytes) {
			/*
			 * Nothing can be sent between posting smaller Receives and the UPD that
			 * advertises them.
			 */
			if (ch->goal_bytes < characteristics_advertised_size(ch) && !may_update)
				return CHARACTERISTICS_NOTHING;
			return resize(ch, ch->goal_bytes, recv_bytes);
		}
		may_update |= ch->posted_bytes < characteristics_advertised_size(ch);
		if (snapshot->smallest_bytes < ch->goal_bytes)
			return CHARACTERISTICS_NOTHING;
	}
	if (!may_update)
		return CHARACTERISTICS_NOTHING;
	make_size(ch, message, XCHAR_UPD,
		  ch->receives == RECEIVES_CLEARING ? characteristics_advertised_size(ch)
						    : ch->goal_bytes,
		  ch->receives != RECEIVES_RAISING);
	return CHARACTERISTICS_SEND;
}

static enum characteristics_step next_size_request(struct characteristics *ch,
						   const struct characteristics_snapshot *snapshot,
						   struct characteristics_message *message)
{
	if (ch->size_request != SIZE_REQUEST_QUEUED || !snapshot->is_allowed)
		return CHARACTERISTICS_NOTHING;
	if (ch->size_request_bytes < characteristics_peer_size(ch) &&
	    snapshot->needed_bytes > ch->size_request_bytes)
		return CHARACTERISTICS_NOTHING;
	make_size(ch, message, XCHAR_REQ, ch->size_request_bytes, false);
	return CHARACTERISTICS_SEND;
}

enum characteristics_step characteristics_next(struct characteristics *ch,
					       const struct characteristics_snapshot *snapshot,
					       struct characteristics_message *message,
					       uint32_t *recv_bytes)
{
	enum characteristics_step step;

	if (ch->init_due) {
		make_init(ch, message);
		message->answers = true;
		message->xid = ch->init_xid;
		return CHARACTERISTICS_SEND;
	}
	if (ch->resp_due)
		return next_resp(ch, snapshot, message, recv_bytes);
	step = next_receives(ch, snapshot, message, recv_bytes);
	return step != CHARACTERISTICS_NOTHING ? step : next_size_request(ch, snapshot, message);
}

static void resp_is_sent(struct characteristics *ch)
{
	uint32_t bytes = ch->request.value[XCHAR_RBSIZ];

	ch->resp_due = false;
	if (!ch->size_undecided)
		return;
	if (ch->request.verdict[XCHAR_RBSIZ] == XCHAR_PEND) {
		ch->goal_bytes = bytes;
		if (ch->receives != RECEIVES_PENDING)
			set_receives(ch, RECEIVES_PENDING);
		return;
	}
	ch->advertised_bytes = bytes;
	if (ch->receives != RECEIVES_SETTLED)
		set_receives(ch, RECEIVES_SETTLED);
}

void characteristics_sent(struct characteristics *ch, uint32_t xid)
{
	switch (ch->step_op) {
	case XCHAR_INIT:
		init_is_sent(ch);
		break;
	case XCHAR_RESP:
		resp_is_sent(ch);
		break;
	case XCHAR_UPD:
		ch->advertised_bytes = ch->step_bytes;
		set_receives(ch, RECEIVES_SETTLED);
		break;
	case XCHAR_REQ:
		ch->size_request_xid = xid;
		if (!characteristics_has_pending_req(ch))
			ch->pending_req_bytes = ch->size_request_bytes;
		set_size_request(ch, SIZE_REQUEST_OPEN);
		break;
	}
	ch->step_op = 0;
}

void characteristics_resized(struct characteristics *ch, bool done)
{
	if (done)
		ch->posted_bytes = ch->step_bytes;
	else if (ch->resp_due)
		reject_size(ch);
	else
		set_receives(ch, ch->receives == RECEIVES_PENDING ? RECEIVES_CLEARING
								  : RECEIVES_SETTLED);
}

uint32_t characteristics_reply_bytes(const struct characteristics *ch, uint32_t advertised_bytes)
{
	uint32_t bytes = ch->advertised[XCHAR_RBSIZ] ? ch->value[XCHAR_RBSIZ] : advertised_bytes;

	return min_u32(xchar_size(bytes), CHARACTERISTICS_REPLY_MAX_BYTES);
}

uint32_t characteristics_send_bytes(const struct characteristics *ch, uint32_t advertised_bytes)
{
	uint32_t bytes = min_u32(characteristics_reply_bytes(ch, advertised_bytes),
				 ch->config.send_max_bytes);

	return min_u32(bytes, characteristics_pending_req_bytes(ch));
}

uint32_t characteristics_recv_bytes(const struct characteristics *ch, uint32_t advertised_bytes)
{
	uint32_t bytes = characteristics_advertised_size(ch);

	if (!ch->peer_understands || !ch->advertised_bytes)
		bytes = min_u32(bytes, xchar_size(advertised_bytes));
	return ch->receives == RECEIVES_PENDING ? min_u32(bytes, ch->goal_bytes) : bytes;
}

bool characteristics_may_invalidate(const struct characteristics *ch)
{
	return ch->value[XCHAR_RQREMINV];
}

enum xchar_brs characteristics_peer_reverse(const struct characteristics *ch)
{
	return (enum xchar_brs)ch->value[XCHAR_BRS];
}

uint32_t characteristics_counted_limit(const struct characteristics *ch)
{
	uint32_t bytes = UINT32_MAX;

	if (ch->resp_due && ch->size_undecided)
		bytes = ch->request.value[XCHAR_RBSIZ];
	else if (ch->receives == RECEIVES_PENDING)
		bytes = ch->goal_bytes;
	/* No Call relies on more than the advertised size. */
	return bytes < characteristics_advertised_size(ch) ? bytes : UINT32_MAX;
}

uint32_t characteristics_needed_limit(const struct characteristics *ch)
{
	bool lowers = ch->size_request == SIZE_REQUEST_QUEUED &&
		      ch->size_request_bytes < characteristics_peer_size(ch);

	return lowers ? ch->size_request_bytes : UINT32_MAX;
}

const char *characteristics_pending(const struct characteristics *ch)
{
	bool here = ch->receives == RECEIVES_PENDING || ch->receives == RECEIVES_RAISING;

	if (characteristics_has_pending_req(ch))
		return here ? "sizes of both ends" : "the peer's size";
	return here ? "our size" : NULL;
}
