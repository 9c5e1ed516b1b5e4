// SPDX-License-Identifier: BSD-3-Clause
/* Prints every state machine for doc/states.md; tests/unit/states.sh compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bridge/bridge_state.h"
#include "daemon/service/client_index.h"
#include "daemon/service/conn_limits.h"
#include "daemon/upstream/upstream_connect.h"
#include "fabric/iwarp/engine.h"
#include "fabric/verbs/pd.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/requester_rpc.h"
#include "rpcrdma/responder_rpc.h"
#include "rpcrdma/v2/characteristics.h"
#include "rpctcp/tcp_conn.h"

/* A new machine is one line here, from the bridge downwards; then states.sh --write. */
/* clang-format off */
static const struct state_table *const machines[] = {
	&bridge_states,
	&client_states,
	&upstream_states,
	&conn_slot_states,
	&tcp_leg_states,
	&rdma_conn_states,
	&ccp_client_states,
	&requester_rpc_states,
	&responder_rpc_states,
	&characteristics_receives_states,
	&characteristics_size_request_states,
	&iwarp_engine_states,
	&verbs_ep_states,
	&verbs_key_states,
};
/* clang-format on */

/* What a table must be for its drawing to make sense. */
static void check(const struct state_table *table)
{
	for (unsigned i = 0; i < table->count; i++) {
		const struct state_row *row = &table->rows[i];

		if (row->name && row->awaits && !(row->next & TO(i)) &&
		    row->next < TO(table->count))
			continue;
		fprintf(stderr, "%s: row %u is not a state\n", table->machine, i);
		exit(1);
	}
}

static void print_row(const struct state_table *table, const struct state_row *row, int width)
{
	const char *before = " → ";

	printf("      %-*s %s", width, row->name, row->awaits);
	for (unsigned to = 0; to < table->count; to++) {
		if (!(row->next & TO(to)))
			continue;
		printf("%s%s", before, table->rows[to].name);
		before = ", ";
	}
	printf("\n");
}

static void print_machine(const struct state_table *table)
{
	size_t width = 0;

	printf("    %s\n", table->machine);
	for (unsigned i = 0; i < table->count; i++)
		if (strlen(table->rows[i].name) > width)
			width = strlen(table->rows[i].name);
	for (unsigned i = 0; i < table->count; i++)
		print_row(table, &table->rows[i], (int)width);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		check(machines[i]);
		print_machine(machines[i]);
	}
	return 0;
}
