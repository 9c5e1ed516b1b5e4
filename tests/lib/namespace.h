/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network of a test program's own: whoever takes a port, or expects one to be free, meets nobody there.
 *
 * As root that is a network namespace. Others need a user namespace around it; they keep their user, their
 * group and what they may do, so that a test finds itself as it would outside.
 */
#ifndef TESTS_LIB_NAMESPACE_H
#define TESTS_LIB_NAMESPACE_H

#include <stdbool.h>

/**
 * namespace_enter - move this process into a new network that has a loopback interface and nothing else
 *
 * To be called before the process has threads or sockets. What it starts later is in the same network, which
 * ends with the last of them.
 *
 * Returns 0, or a negative errno where that is not permitted (-EPERM, -EINVAL with threads, -ENOSPC past the
 * machine's limit): the process is then where it was.
 */
int namespace_enter(void);
/** namespace_is_own - whether it did move: addresses and routes may be changed. */
bool namespace_is_own(void);

#endif
