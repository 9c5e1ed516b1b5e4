// SPDX-License-Identifier: BSD-3-Clause
/* Small objects for reuse. */
#include "base/spares.h"

void spares_init(struct spares *spares)
{
	*spares = (struct spares){0};
}

void spares_fini(struct spares *spares)
{
	for (unsigned i = 0; i < SPARES_CLASSES; i++) {
		struct spare *spare;

		while ((spare = spares->classes[i].first)) {
			spares->classes[i].first = spare->next;
			free(spare);
		}
		spares->classes[i].count = 0;
	}
}
