// SPDX-License-Identifier: BSD-3-Clause
/* A list of names of hosts. */
#include "daemon/config/config_hosts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 255u /* RFC 1035, section 2.3.4 */

const char *config_host_wrong(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > NAME_MAX_BYTES)
		return "a name has from 1 to 255 characters";
	if (!text[strspn(text, ".")])
		return "a name has letters or digits besides its dots";
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-_.", *text))
			return "a name stands alone here, without http:// and port, and has "
			       "letters, digits, '-', '_' and '.' only; addresses need not be named";
	return NULL;
}

void config_hosts_fini(struct config_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		free(hosts->names[i]);
	free(hosts->names);
	*hosts = (struct config_hosts){0};
}
