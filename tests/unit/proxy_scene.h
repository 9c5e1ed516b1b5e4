/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: a proxy with one service over TCP, and its server. Tests of whole proxies start from it.
 */
#ifndef TESTS_UNIT_PROXY_SCENE_H
#define TESTS_UNIT_PROXY_SCENE_H

#include "tests/unit/proxy_fixture.h"

#define PLAIN_TCP "require_privileged_port = false; source_port = \"any\";"

extern uint16_t front, back; /* the clients' port and the server's */
extern int server;           /* which listens; -1 if the test has closed it */

/** scene_setup, scene_teardown - a checked fixture: ports and a server, and no proxy yet. */
void scene_setup(void);
void scene_teardown(void);
/** start_tcp - the service, from client to server over TCP; @more: further keys of it. */
void start_tcp(const char *more);
/** open_pair - a client whose first Call has reached the server; @from: whence the proxy came, or NULL. */
void open_pair(uint32_t xid, int *client, int *upstream, uint16_t *from);

#endif
