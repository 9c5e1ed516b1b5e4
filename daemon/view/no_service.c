// SPDX-License-Identifier: BSD-3-Clause
/* What is said to who names a service that is none. */
#include "daemon/view/no_service.h"

#include <limits.h>

#include "daemon/base/likeness.h"
#include "daemon/proxy/proxy_parts.h"

/* The name that is most like it, or NULL. */
static const char *nearest(const struct proxy *proxy, const char *name)
{
	const struct proxy_service *ps;
	unsigned best = UINT_MAX;
	const char *found = NULL;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		unsigned edits = likeness_edits(name, ps->service.config->name);

		if (edits >= best)
			continue;
		best = edits;
		found = ps->service.config->name;
	}
	return found;
}

json_t *no_service_json(const struct proxy *proxy, const char *name)
{
	const char *meant = nearest(proxy, name);

	if (meant)
		return json_pack("{s:o}", "error",
				 json_sprintf("there is no service %s: is %s meant?", name, meant));
	return json_pack("{s:o}", "error", json_sprintf("there is no service %s", name));
}
