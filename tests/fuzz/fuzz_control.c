// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes requests of the control socket: each is refused with a reason, or is a command of the
 * table.
 */
#include <string.h>

#include "daemon/control/control_request.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_request request = {0};
	const char *wrong = control_request_parse((const char *)data, size, &request);

	if (wrong) {
		FUZZ_ASSERT(!request.command);
		return 0;
	}
	FUZZ_ASSERT(control_command_find(request.command->name) == request.command);
	FUZZ_ASSERT(strlen(request.argument) <= CONTROL_MAX_ARGUMENT_BYTES);
	if (request.argument[0])
		FUZZ_ASSERT(request.command->argument);
	else
		FUZZ_ASSERT(!request.command->argument || request.command->optional);
	return 0;
}
