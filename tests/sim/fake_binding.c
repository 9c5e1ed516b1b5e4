// SPDX-License-Identifier: BSD-3-Clause
/* A binding for the scenario tests. */
#include "tests/sim/fake_binding.h"

#include <stdlib.h>
#include <string.h>

struct rdma_payload fake_reply_payloads[4], fake_call_payloads[4];
uint32_t fake_result_bounds[4];
int fake_nreply_payloads, fake_ncall_payloads, fake_nresult_bounds;
bool fake_call_writes;
unsigned fake_notes;

void fake_binding_reset(void)
{
	fake_nreply_payloads = fake_ncall_payloads = fake_nresult_bounds = 0;
	fake_call_writes = false;
	fake_notes = 0;
}

static void *call_note(void *arg, const struct rpc_call_hdr *call, const uint8_t *msg, uint32_t n)
{
	fake_notes++;
	return malloc(1);
}

static void note_free(void *arg, void *note)
{
	if (note)
		fake_notes--;
	free(note);
}

static int give(void *out, const void *from, size_t size, int count, unsigned max)
{
	if (count > (int)max)
		count = (int)max;
	if (count > 0)
		memcpy(out, from, (size_t)count * size);
	return count;
}

static int reply_payloads(void *arg, const void *note, const uint8_t *reply, uint32_t n,
			  struct rdma_payload *out, unsigned max)
{
	return give(out, fake_reply_payloads, sizeof(*out), fake_nreply_payloads, max);
}

static int call_payloads(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t n,
			 struct rdma_payload *out, unsigned max)
{
	return give(out, fake_call_payloads, sizeof(*out), fake_ncall_payloads, max);
}

static bool call_writes(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t n)
{
	return fake_call_writes;
}

static int result_bounds(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t n,
			 uint32_t *out, unsigned max)
{
	return give(out, fake_result_bounds, sizeof(*out), fake_nresult_bounds, max);
}

const struct rdma_binding fake_binding = {
	.call_note = call_note,
	.note_free = note_free,
	.reply_payloads = reply_payloads,
	.call_payloads = call_payloads,
	.call_writes = call_writes,
	.result_bounds = result_bounds,
};
