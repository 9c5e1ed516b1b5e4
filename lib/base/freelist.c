// SPDX-License-Identifier: BSD-3-Clause
#include "base/freelist.h"

void freelists_init(struct freelists *freelists)
{
	*freelists = (struct freelists){0};
}

void freelist_fini(struct freelist *list)
{
	struct freelist_item *item;

	while ((item = list->first)) {
		list->first = item->next;
		free(item);
	}
	list->count = 0;
}

void freelists_fini(struct freelists *freelists)
{
	for (unsigned i = 0; i < FREELISTS_CLASSES; i++)
		freelist_fini(&freelists->classes[i]);
}
