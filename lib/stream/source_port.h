/* SPDX-License-Identifier: BSD-3-Clause */
/* Which local ports a connection to a server may come from. */
#ifndef STREAM_SOURCE_PORT_H
#define STREAM_SOURCE_PORT_H

enum source_port {
	SOURCE_PORT_AUTO,     /* below 1024 while one is to be had, else what the kernel gives */
	SOURCE_PORT_RESERVED, /* below 1024, or not at all */
	SOURCE_PORT_ANY,      /* what the kernel gives */
};

#endif
