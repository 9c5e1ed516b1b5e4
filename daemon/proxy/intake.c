// SPDX-License-Identifier: BSD-3-Clause
/* Connections that a worker has been handed and has not taken yet. */
#include "daemon/proxy/intake.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Of the service whose turn it is, or the next one that has any; some must wait. */
static void take_one(struct intake *intake)
{
	struct handover_list *list;
	struct handover *handover;

	do {
		list = &intake->lists[intake->next];
		intake->next = (intake->next + 1) % intake->nservices;
	} while (STAILQ_EMPTY(list));
	handover = STAILQ_FIRST(list);
	STAILQ_REMOVE_HEAD(list, entry);
	intake->waiting--;
	intake->take(intake->arg, handover);
}

static void on_task(void *arg)
{
	struct intake *intake = arg;

	for (unsigned i = 0; i < INTAKE_PER_TURN && intake->waiting; i++)
		take_one(intake);
	if (intake->waiting)
		loop_defer(intake->loop, &intake->task);
}

int intake_init(struct intake *intake, struct loop *loop, size_t nservices,
		void (*take)(void *arg, struct handover *handover), void *arg)
{
	*intake = (struct intake){.loop = loop, .take = take, .arg = arg, .nservices = nservices};
	loop_task_init(&intake->task, on_task, intake);
	intake->lists = calloc(nservices ? nservices : 1, sizeof(*intake->lists));
	if (!intake->lists)
		return -ENOMEM;
	for (size_t i = 0; i < nservices; i++)
		STAILQ_INIT(&intake->lists[i]);
	return 0;
}

void intake_fini(struct intake *intake)
{
	assert(!intake->waiting);
	if (intake->loop)
		loop_task_cancel(intake->loop, &intake->task);
	free(intake->lists);
	*intake = (struct intake){0};
}

void intake_put(struct intake *intake, struct handover *handover)
{
	STAILQ_INSERT_TAIL(&intake->lists[handover->service], handover, entry);
	intake->waiting++;
	loop_defer(intake->loop, &intake->task);
}

void intake_flush(struct intake *intake)
{
	while (intake->waiting)
		take_one(intake);
}
