/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: a proxy with one service over TCP, and its server. Tests of whole proxies start from it.
 */
#ifndef TESTS_UNIT_PROXY_SCENE_H
#define TESTS_UNIT_PROXY_SCENE_H

#include "tests/unit/proxy_fixture.h"

#define PLAIN_TCP "require_privileged_port = false; source_port = \"any\";"

extern uint16_t front, back; /* the clients' port and the server's */
extern int server;           /* its listening socket; -1 if the test has closed it */

/** scene_setup, scene_teardown - A checked fixture: ports and a server, and no proxy yet. */
void scene_setup(void);
void scene_teardown(void);
/** start_tcp - Starts the proxy with a service from TCP to TCP; @more: further keys of it. */
void start_tcp(const char *more);
/**
 * open_pair - Connects a client whose first Call reaches the server; @from: the proxy's source
 * port, or NULL.
 */
void open_pair(uint32_t xid, int *client, int *upstream, uint16_t *from);

#endif
