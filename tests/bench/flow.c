// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "tests/bench/file_data.h"
#include "tests/bench/load.h"
#include "tests/bench/nfs3.h"

#define STATUS_AT 24 /* nfsstat3 in a Reply */

static uint8_t input[FILE_DATA_CHUNK];

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t be;

	memcpy(&be, at, sizeof(be));
	return ntohl(be);
}

static uint32_t data_bytes(const struct load *load, uint32_t procedure)
{
	return load->options.procedure == procedure ? load->options.bytes : 0;
}

bool flow_init(struct flow *flow, struct load *load)
{
	flow->load = load;
	flow->fd = -1;
	flow->places = calloc(load->options.inflight, sizeof(*flow->places));
	return flow->places;
}

void flow_fini(struct flow *flow)
{
	if (flow->fd >= 0)
		close(flow->fd);
	send_queue_fini(&flow->out);
	free(flow->places);
}

/* From here on XIDs are new to the server, and to whatever remembers those of another run. */
static void choose_xids(struct flow *flow)
{
	if (getrandom(&flow->first_xid, sizeof(flow->first_xid), 0) != sizeof(flow->first_xid))
		fail("getrandom: %s", strerror(errno));
	flow->first_xid &= 0x3fffffff; /* places do not wrap around */
	for (uint32_t i = 0; i < flow->load->options.inflight; i++)
		flow->places[i] = (struct place){.xid = flow->first_xid + i};
}

void flow_open(struct flow *flow)
{
	struct load *load = flow->load;
	int fd = socket_connect(&load->options.server);

	if (fd < 0) {
		load_fail(load, "connect: %s", strerror(-fd));
		return;
	}
	flow->fd = fd;
	flow->begun_ns = now_ns();
	flow->watched = EPOLLOUT;
	flow->reader.head_bytes = (uint32_t)load->null_reply.len;
	choose_xids(flow);
	poll_watch(load->poll, fd, EPOLLOUT, flow);
	load->outstanding++;
}

void flow_close(struct flow *flow)
{
	close(flow->fd);
	flow->fd = -1;
	flow->connected = flow->open = flow->closing = false;
	memset(&flow->reader, 0, sizeof(flow->reader));
}

static void connected(struct flow *flow)
{
	socklen_t len = sizeof(int);
	int err = 0;

	getsockopt(flow->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err) {
		load_fail(flow->load, "connect: %s", strerror(err));
		return;
	}
	flow->connected = true;
	flow->places[0].waits = true;
	send_queue_put(&flow->out, &flow->load->null_call, flow->places[0].xid, 0, 0);
	flow_flush(flow);
}

static uint64_t random_offset(struct load *load)
{
	uint64_t ends = NFS3_FILE_SIZE - load->options.bytes;

	return random_next(&load->random) % (ends / 4096 + 1) * 4096;
}

void flow_call(struct flow *flow, uint32_t place, uint64_t due_ns)
{
	struct load *load = flow->load;
	struct place *to = &flow->places[place];
	uint32_t procedure = load->options.procedure, write_bytes = data_bytes(load, NFS3_WRITE);
	uint8_t *end;

	to->waits = true;
	to->due_ns = due_ns;
	to->offset = load->options.bytes ? random_offset(load) : 0;
	to->xid += load->options.inflight;
	end = send_queue_put(&flow->out, &load->call, to->xid, to->offset, write_bytes);
	if (load->options.bytes)
		nfs3_set_offset(end, procedure, to->offset);
	if (write_bytes && load->options.spoil_every &&
	    ++load->writes % load->options.spoil_every == 0)
		send_queue_spoil(&flow->out);
	load->outstanding++;
}

void flow_flush(struct flow *flow)
{
	int left = send_queue_flush(&flow->out, flow->fd);
	uint32_t wanted = left > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN;

	if (left < 0) {
		load_fail(flow->load, "send: %s", strerror(-left));
		return;
	}
	if (wanted != flow->watched)
		poll_change(flow->load->poll, flow->fd, wanted, flow);
	flow->watched = wanted;
}

/* The place that waits for this XID. */
static bool find_place(struct flow *flow, uint32_t xid)
{
	uint32_t place = (xid - flow->first_xid) % flow->load->options.inflight;

	flow->replying = place;
	return flow->places[place].waits && flow->places[place].xid == xid;
}

static void reply_begin_read(void *arg, const uint8_t *head, size_t head_len, size_t len)
{
	struct flow *flow = arg;
	struct load *load = flow->load;
	const struct buf *expected = flow->open ? &load->reply : &load->null_reply;
	uint32_t bytes = flow->open ? data_bytes(load, NFS3_READ) : 0;

	flow->verified = 0;
	flow->wrong = false;
	if (!find_place(flow, u32_at(head)))
		load_fail(load, "a Reply came to %08x, which nobody sent", u32_at(head));
	else if (head_len >= STATUS_AT + 4 && u32_at(head + STATUS_AT) != NFS3_OK)
		load_fail(load, "the server says %u", u32_at(head + STATUS_AT));
	else if (head_len != expected->len || len != expected->len + bytes + (-bytes & 3) ||
		 memcmp(head + 4, expected->data + 4, head_len - 4) != 0)
		load_fail(load, "a Reply of %zu bytes is not what the server says", len);
}

static void reply_more(void *arg, const uint8_t *data, size_t len)
{
	struct flow *flow = arg;
	size_t left = data_bytes(flow->load, NFS3_READ) - flow->verified,
	       n = len < left ? len : left;

	if (!file_data_is(flow->places[flow->replying].offset + flow->verified, data, n))
		flow->wrong = true;
	flow->verified += (uint32_t)n;
}

static void reply_end(void *arg)
{
	struct flow *flow = arg;
	struct load *load = flow->load;
	struct place *place = &flow->places[flow->replying];

	if (load->over)
		return;
	place->waits = false;
	load->outstanding--;
	load->heard_ns = flow->now_ns;
	load->results.mismatches += flow->wrong;
	if (flow->open) {
		load_replied(load, flow, flow->replying, place->due_ns, flow->now_ns);
		return;
	}
	flow->open = true;
	flow->reader.head_bytes = (uint32_t)load->reply.len;
	load_opened(load, flow, flow->now_ns - flow->begun_ns);
}

static const struct record_ops reply_ops = {reply_begin_read, reply_more, reply_end};

static void receive(struct flow *flow)
{
	struct load *load = flow->load;
	ssize_t n = recv(flow->fd, input, sizeof(input), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		load_fail(load, "a connection was lost: %s", n ? strerror(errno) : "closed");
		return;
	}
	flow->now_ns = now_ns();
	if (record_reader_feed(&flow->reader, &reply_ops, flow, input, (size_t)n))
		load_fail(load, "what came is no record in one fragment");
}

void flow_event(struct flow *flow, uint32_t events)
{
	if (!flow->connected) {
		connected(flow);
		return;
	}
	if (events & ~(uint32_t)EPOLLOUT)
		receive(flow);
	if (flow->load->over)
		return;
	if (flow->closing)
		flow_close(flow);
	else
		flow_flush(flow);
}
