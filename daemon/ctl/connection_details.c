// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/connection_details.h"

#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/table.h"

#define VALUE_COLUMN 24u /* where values begin */
#define LONG_COLUMN  4u  /* where a word begins that does not fit after VALUE_COLUMN */
#define VALUE_BYTES  256u

/* Prints "label  value" and breaks the value between words. */
static void put_row(const char *label, const char *value, FILE *out)
{
	size_t column = (size_t)fprintf(out, "%s", label), begin = VALUE_COLUMN, len;

	for (; *value; value += len + strspn(value + len, " ")) {
		len = strcspn(value, " ");
		if (begin + len > TABLE_LINE) {
			fputc('\n', out);
			column = 0;
			begin = len > TABLE_LINE - VALUE_COLUMN ? LONG_COLUMN : VALUE_COLUMN;
		}
		fprintf(out, "%*s%.*s", (int)(begin - column), "", (int)len, value);
		column = begin + len;
		begin = column + 1;
	}
	fputc('\n', out);
}

/* ---- rows for one member ---- */

enum row_kind { ROW_TEXT, ROW_NUMBER, ROW_COUNT, ROW_BYTES };

/* A member of a leg. ROW_COUNT is omitted if it is 0. */
static const struct leg_row {
	const char *key, *label;
	enum row_kind kind;
} leg_rows[] = {
	{"calls_held", "  waiting for a credit", ROW_NUMBER},
	{"credits_granted", "  credits granted", ROW_NUMBER},
	{"credits_used", "  credits used", ROW_NUMBER},
	{"credits_available", "  credits free", ROW_NUMBER},
	{"bytes_received", "  received", ROW_BYTES},
	{"bytes_sent", "  sent", ROW_BYTES},
	{"recv_size_bytes", "  receive size", ROW_BYTES},
	{"peer_recv_size_bytes", "  peer's receive size", ROW_BYTES},
	{"recv_posted_bytes", "  posted receives", ROW_BYTES},
	{"pending", "  sizes requested", ROW_TEXT},
	{"peer_reads_max", "  concurrent Reads", ROW_NUMBER},
	{"replies_lent", "  read-chunk Replies", ROW_COUNT},
	{"calls_abandoned", "  Calls abandoned", ROW_COUNT},
};

static void put_number(const char *label, const json_t *object, const char *key, FILE *out)
{
	char value[VALUE_BYTES];

	if (!json_is_integer(json_object_get(object, key)))
		return;
	snprintf(value, sizeof(value), "%" PRIu64, json_number(object, key));
	put_row(label, value, out);
}

static void put_bytes(const char *label, const json_t *object, const char *key, FILE *out)
{
	char value[CELL_BYTES];

	if (json_is_integer(json_object_get(object, key)))
		put_row(label, humanize_bytes(json_number(object, key), value), out);
}

static void put_text(const char *label, const json_t *object, const char *key, FILE *out)
{
	if (json_is_string(json_object_get(object, key)))
		put_row(label, json_text(object, key), out);
}

static void put_leg_row(const struct leg_row *row, const json_t *leg, FILE *out)
{
	switch (row->kind) {
	case ROW_TEXT:
		put_text(row->label, leg, row->key, out);
		break;
	case ROW_COUNT:
		if (!json_number(leg, row->key))
			break;
		/* fall through */
	case ROW_NUMBER:
		put_number(row->label, leg, row->key, out);
		break;
	case ROW_BYTES:
		put_bytes(row->label, leg, row->key, out);
		break;
	}
}

/* ---- rows for several members ---- */

/* "open for 12 s" */
static void put_state(const json_t *object, FILE *out)
{
	const json_t *age = json_object_get(object, "state_age_s");
	char value[VALUE_BYTES], text[CELL_BYTES];

	if (!json_is_number(age)) {
		put_text("  state", object, "state", out);
		return;
	}
	snprintf(value, sizeof(value), "%.100s for %s", json_text(object, "state"),
		 cell_duration_text(json_number_value(age), text));
	put_row("  state", value, out);
}

static void put_transport(const json_t *leg, FILE *out)
{
	const char *kind = json_string_value(json_object_get(leg, "kind"));
	char value[VALUE_BYTES];

	if (!kind)
		return;
	if (strcmp(kind, "tcp"))
		snprintf(value, sizeof(value), "RDMA (%.100s)", kind);
	else
		snprintf(value, sizeof(value), "TCP");
	put_row("  transport", value, out);
}

/* The version of RPC-over-RDMA, and the longest inline messages. */
static void put_rdma(const json_t *leg, FILE *out)
{
	const char *dialect = json_string_value(json_object_get(leg, "dialect"));
	char value[VALUE_BYTES], in[CELL_BYTES], sent[CELL_BYTES];

	if (!json_is_integer(json_object_get(leg, "rpcrdma_version")))
		return;
	snprintf(value, sizeof(value), "version %" PRIu64 "%s%.100s%s",
		 json_number(leg, "rpcrdma_version"), dialect ? " (" : "", dialect ? dialect : "",
		 dialect ? ")" : "");
	put_row("  RPC-over-RDMA", value, out);
	if (!json_is_integer(json_object_get(leg, "inline_recv_bytes")))
		return;
	snprintf(value, sizeof(value), "%s received, %s sent",
		 humanize_bytes(json_number(leg, "inline_recv_bytes"), in),
		 humanize_bytes(json_number(leg, "inline_send_bytes"), sent));
	put_row("  longest inline", value, out);
}

/* "1.3, TLS_AES_128_GCM_SHA256; client.example, verified" */
static void put_tls(const json_t *leg, FILE *out)
{
	const json_t *tls = json_object_get(leg, "tls");
	const char *name = json_string_value(json_object_get(tls, "peer_name"));
	char value[VALUE_BYTES];

	if (!json_is_object(tls))
		return;
	snprintf(value, sizeof(value), "%.8s, %.60s; %.128s%s", json_text(tls, "version"),
		 json_text(tls, "cipher"), name ? name : "the peer has no certificate",
		 json_is_true(json_object_get(tls, "verified")) ? ", verified" : "");
	put_row("  TLS", value, out);
}

static void put_profile(const json_t *leg, FILE *out)
{
	char value[VALUE_BYTES];

	if (!json_is_string(json_object_get(leg, "peer_profile")))
		return;
	snprintf(value, sizeof(value), "%.100s: %.150s", json_text(leg, "peer_profile"),
		 json_text(leg, "peer_profile_why"));
	put_row("  peer profile", value, out);
}

/* @client: the client's side, else the server's */
static void put_leg(const json_t *leg, bool client, FILE *out)
{
	put_transport(leg, out);
	put_tls(leg, out);
	put_text(client ? "  connected to" : "  connected from", leg, "local", out);
	put_state(leg, out);
	put_number("  unanswered Calls", leg, client ? "calls_in" : "calls_out", out);
	put_number("  reverse Calls", leg, client ? "calls_out" : "calls_in", out);
	put_rdma(leg, out);
	put_profile(leg, out);
	for (size_t i = 0; i < ARRAY_SIZE(leg_rows); i++)
		put_leg_row(&leg_rows[i], leg, out);
}

static void put_oldest(const json_t *connection, FILE *out)
{
	char value[VALUE_BYTES], age[CELL_BYTES];
	struct oldest_call oldest;

	if (!oldest_call_get(connection, &oldest))
		return;
	snprintf(value, sizeof(value), "%.100s for %s in stage %.100s", oldest.operation,
		 cell_duration_text(oldest.age_s, age), oldest.stage);
	put_row("  oldest Call", value, out);
}

static void put_connection(const json_t *connection, FILE *out)
{
	const json_t *age = json_object_get(connection, "age_s");
	char text[CELL_BYTES];

	put_number("connection", connection, "id", out);
	put_text("  service", connection, "service", out);
	put_state(connection, out);
	if (json_is_number(age))
		put_row("  age", cell_duration_text(json_number_value(age), text), out);
	put_number("  worker thread", connection, "worker", out);
	put_number("  Calls in total", connection, "calls_total", out);
	put_oldest(connection, out);
}

static void print_unknown(const json_t *connection, FILE *out)
{
	static const char of_connection[] =
		"id service worker state state_age_s age_s client_address calls_total "
		"client upstream oldest_call_age_s oldest_call_operation "
		"oldest_call_stage oldest_untaken_age_s oldest_untaken_operation";
	static const char of_leg[] =
		"kind state state_age_s local peer calls_in calls_out calls_held "
		"credits_granted credits_available credits_used inline_send_bytes "
		"inline_recv_bytes rpcrdma_version recv_size_bytes peer_recv_size_bytes "
		"recv_posted_bytes peer_reads_max replies_lent calls_abandoned dialect "
		"pending tls peer_profile peer_profile_why bytes_received bytes_sent";
	char name[CELL_BYTES];

	snprintf(name, sizeof(name), "%" PRIu64, json_number(connection, "id"));
	cells_print_unknown(connection, of_connection, name, out);
	cells_print_unknown(json_object_get(connection, "client"), of_leg, name, out);
	cells_print_unknown(json_object_get(connection, "upstream"), of_leg, name, out);
}

void connection_details_print(const json_t *connection, bool all, FILE *out)
{
	const json_t *client = json_object_get(connection, "client");
	const json_t *upstream = json_object_get(connection, "upstream");

	put_connection(connection, out);
	put_row("client", json_text(connection, "client_address"), out);
	if (json_is_object(client))
		put_leg(client, true, out);
	put_row("server", json_is_object(upstream) ? json_text(upstream, "peer") : "not connected",
		out);
	if (json_is_object(upstream))
		put_leg(upstream, false, out);
	if (all)
		print_unknown(connection, out);
}
