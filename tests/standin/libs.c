// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "tests/standin/libs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

void *standin_next(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next) {
		fprintf(stderr, "standin: nothing has %s\n", name);
		_exit(2);
	}
	return next;
}
