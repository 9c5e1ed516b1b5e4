/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a configuration file in a directory of its own, and the messages about it. */
#ifndef TESTS_UNIT_CONFIG_FIXTURE_H
#define TESTS_UNIT_CONFIG_FIXTURE_H

#include "daemon/config/config.h"

#define SERVICE(text) "services = (\n{ name = \"a\"; " text " }\n);\n"
#define TO_IWARP      "listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://proxy:20049\"; "
#define TO_RDMA       "listen = \"tcp://127.0.0.1:2049\"; connect = \"rdma://filer:20049\"; "
#define TO_TCP        "listen = \"rdma://[::]:20049\"; connect = \"tcp://127.0.0.1:2049\"; "
#define RDMA_TO_RDMA  "listen = \"rdma://[::1]:20049\"; connect = \"rdma://filer:20049\"; "
#define FEW           "max_connections = 359; "
#define TCP_TO_TCP    "listen = \"tcp://127.0.0.1:111\"; connect = \"tcp://filer:111\"; "

struct config_fixture {
	char dir[32];
	char path[64], other[64]; /* the file, and one that it can include by the name "other" */
	char *errors;             /* message of the last load */
	struct config *config;    /* what it read, or NULL */
};

extern struct config_fixture fixture;

/** config_fixture_setup - Creates a directory without files. */
void config_fixture_setup(void);
/** config_fixture_teardown - Removes it with both files, and frees the rest. */
void config_fixture_teardown(void);
/** config_fixture_write - Writes a file with that path and text. */
void config_fixture_write(const char *path, const char *text);
/** config_fixture_load - Writes the file and loads it. Returns as config_load() does. */
int config_fixture_load(const char *text);
/** config_fixture_service - Loads a file that must be good; returns its only service. */
const struct service_config *config_fixture_service(const char *text);
/**
 * config_fixture_at - Returns @text with the file's path and a colon before each line; valid until
 * the next call.
 */
const char *config_fixture_at(const char *text);

#endif
