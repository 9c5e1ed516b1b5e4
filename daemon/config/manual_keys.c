// SPDX-License-Identifier: BSD-3-Clause
/* Makes the configuration file's manual page of its source, while the daemon is built. */
#include <stdio.h>

#include "daemon/config/config_manual.h"

int main(void)
{
	if (config_manual_fill(stdin, stdout, stderr) || fflush(stdout)) {
		fputs("manual_keys: no manual page was made\n", stderr);
		return 1;
	}
	return 0;
}
