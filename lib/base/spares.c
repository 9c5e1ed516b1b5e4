// SPDX-License-Identifier: BSD-3-Clause
#include "base/spares.h"

void spares_init(struct spares *spares)
{
	*spares = (struct spares){0};
}

void spare_list_fini(struct spare_list *list)
{
	struct freelist_item *item;

	while ((item = list->first)) {
		list->first = item->next;
		free(item);
	}
	list->count = 0;
}

void spares_fini(struct spares *spares)
{
	for (unsigned i = 0; i < SPARES_CLASSES; i++)
		spare_list_fini(&spares->classes[i]);
}
