/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections to the HTTP listener end. */
#ifndef DAEMON_HTTP_HTTP_ENDS_H
#define DAEMON_HTTP_HTTP_ENDS_H

/* By the status of their answer, or without one of ours. */
#define HTTP_ENDS(X)                                                                               \
	X(200, "200")                                                                              \
	X(403, "403")                                                                              \
	X(404, "404")                                                                              \
	X(405, "405")                                                                              \
	X(421, "421")                                                                              \
	X(503, "503")                                                                              \
	X(NONE, "none")

enum http_end {
#define HTTP_END_ENUM(name, text) HTTP_END_##name,
	HTTP_ENDS(HTTP_END_ENUM) HTTP_END_COUNT
#undef HTTP_END_ENUM
};

/** http_end_name - "200" … */
const char *http_end_name(enum http_end end);

#endif
