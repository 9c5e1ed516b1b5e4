// SPDX-License-Identifier: BSD-3-Clause
#include "base/spares.h"

void spares_init(struct spares *spares)
{
	*spares = (struct spares){0};
}

void spare_list_fini(struct spare_list *list)
{
	struct spare *spare;

	while ((spare = list->first)) {
		list->first = spare->next;
		free(spare);
	}
	list->count = 0;
}

void spares_fini(struct spares *spares)
{
	for (unsigned i = 0; i < SPARES_CLASSES; i++)
		spare_list_fini(&spares->classes[i]);
}
