/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives a test program a network of its own, so that its ports are free and no other program uses
 * them.
 *
 * For root this is a network namespace. Other users also need a user namespace around it. They keep
 * their user, group and capabilities, so the test runs with the same rights as outside.
 */
#ifndef TESTS_LIB_NAMESPACE_H
#define TESTS_LIB_NAMESPACE_H

#include <stdbool.h>

/**
 * namespace_enter - Moves this process into a new network that has only a loopback interface
 *
 * Must be called before the process has threads or sockets. Processes that it starts later are in
 * the same network, which ends with the last of them.
 *
 * Returns 0, or a negative errno if that is not permitted (-EPERM, -EINVAL with threads, -ENOSPC
 * past the machine's limit): the process then stays in its network.
 */
int namespace_enter(void);
/** namespace_is_own - Returns whether the process moved: addresses and routes can be changed. */
bool namespace_is_own(void);

#endif
