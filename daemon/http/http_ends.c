// SPDX-License-Identifier: BSD-3-Clause
/* How connections to the HTTP listener end. */
#include "daemon/http/http_ends.h"

static const char *const end_names[] = {
#define HTTP_END_NAME(name, text) text,
	HTTP_ENDS(HTTP_END_NAME)
#undef HTTP_END_NAME
};

const char *http_end_name(enum http_end end)
{
	return end_names[end];
}
