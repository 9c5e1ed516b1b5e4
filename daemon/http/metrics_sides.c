// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of the two ends of connections. */
#include "daemon/http/metrics_families.h"

void metrics_each_side(struct metrics_text *text, const struct gathered *gathered,
		       void (*put)(struct metrics_text *text, const struct metrics_side *side))
{
	for (size_t i = 0; i < gathered->nservices; i++) {
		const struct service_config *config = gathered->services[i]->service.config;
		struct metrics_side side = {
			.service = config->name,
			.name = "client",
			.side = STATS_CLIENT,
			.is_rdma = config->listen.transport != TRANSPORT_TCP,
			.stats = &gathered->stats[i],
			.load = &gathered->loads[i],
		};

		put(text, &side);
		side.name = "upstream";
		side.side = STATS_UPSTREAM;
		side.is_rdma = config->connect.transport != TRANSPORT_TCP;
		put(text, &side);
	}
}

static double counted(const struct metrics_side *side, const char *module, const char *name)
{
	return (double)stats_value(side->stats, side->side, module, name);
}

static void put_form(struct metrics_text *text, const struct metrics_side *side, const char *form,
		     double value)
{
	metrics_text_put(
		text,
		METRICS_LABELS({"service", side->service}, {"side", side->name}, {"form", form}),
		value);
}

void metrics_forms(struct metrics_text *text, const struct metrics_side *side)
{
	if (!side->is_rdma) {
		put_form(text, side, "record",
			 counted(side, "tcp", "calls_received") +
				 counted(side, "tcp", "calls_sent"));
		return;
	}
	put_form(text, side, "short", counted(side, "rdma", "calls_short"));
	put_form(text, side, "chunked", counted(side, "rdma", "calls_chunked"));
	put_form(text, side, "long", counted(side, "rdma", "calls_long"));
}

static void put_value(struct metrics_text *text, const struct metrics_side *side, double value)
{
	metrics_text_put(text, METRICS_LABELS({"service", side->service}, {"side", side->name}),
			 value);
}

void metrics_received(struct metrics_text *text, const struct metrics_side *side)
{
	put_value(text, side, counted(side, side->is_rdma ? "rdma" : "tcp", "bytes_received"));
}

void metrics_sent(struct metrics_text *text, const struct metrics_side *side)
{
	put_value(text, side, counted(side, side->is_rdma ? "rdma" : "tcp", "bytes_sent"));
}

static const struct {
	const char *direction, *error, *counter;
} rdma_errors[] = {
	{"sent", "err_vers", "err_vers_sent"},
	{"sent", "err_chunk", "err_chunk_sent"},
	{"sent", "inval_option", "err_inval_option_sent"},
	{"received", "err_vers", "err_vers_received"},
	{"received", "err_chunk", "err_chunk_received"},
	{"received", "inval_option", "err_inval_option_received"},
	{"received", "unknown", "err_unknown_received"},
};

void metrics_rdma_errors(struct metrics_text *text, const struct metrics_side *side)
{
	for (size_t i = 0; side->is_rdma && i < ARRAY_SIZE(rdma_errors); i++)
		metrics_text_put(text,
				 METRICS_LABELS({"service", side->service}, {"side", side->name},
						{"direction", rdma_errors[i].direction},
						{"error", rdma_errors[i].error}),
				 counted(side, "rdma", rdma_errors[i].counter));
}

void metrics_crc_errors(struct metrics_text *text, const struct metrics_side *side)
{
	if (side->is_rdma)
		put_value(text, side, counted(side, "iwarp", "crc_bad"));
}

static void put_credit(struct metrics_text *text, const struct metrics_side *side,
		       const char *state, uint64_t value)
{
	metrics_text_put(
		text,
		METRICS_LABELS({"service", side->service}, {"side", side->name}, {"state", state}),
		(double)value);
}

void metrics_credits(struct metrics_text *text, const struct metrics_side *side)
{
	const struct load_credits *credits = &side->load->credits[side->side];

	if (!side->is_rdma)
		return;
	put_credit(text, side, "granted", credits->granted);
	put_credit(text, side, "used", credits->used);
	if (side->side == STATS_UPSTREAM)
		put_credit(text, side, "waited", credits->waited);
}
