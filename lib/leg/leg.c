// SPDX-License-Identifier: BSD-3-Clause
#include "leg/leg.h"

const char *leg_close_text(enum leg_close why)
{
	static const char *const texts[] = {
#define TEXT(name, text) [LEG_CLOSE_##name] = text,
		LEG_CLOSE_REASONS(TEXT)
#undef TEXT
	};
	return texts[why];
}

const char *leg_close_name(enum leg_close why)
{
	static const char *const names[] = {
#define NAME(name, text) [LEG_CLOSE_##name] = #name,
		LEG_CLOSE_REASONS(NAME)
#undef NAME
	};
	return names[why];
}

void leg_load_get(const struct leg *leg, struct leg_load *load)
{
	struct leg_info info;

	if (leg->ops->load) {
		leg->ops->load(leg, load);
		return;
	}
	leg_info(leg, &info);
	*load = (struct leg_load){
		.kind = info.kind,
		.is_rdma = info.rpcrdma_version != 0,
		.calls_in_flight_in = info.calls_in_flight_in,
		.calls_in_flight_out = info.calls_in_flight_out,
		.calls_queued = info.calls_queued,
		.credits_granted = info.credits_granted,
		.credits_available = info.credits_available,
	};
}
