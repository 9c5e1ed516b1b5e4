/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the verbs of a device's context, with its profile and with faults. */
#ifndef TESTS_STANDIN_OPS_H
#define TESTS_STANDIN_OPS_H

#include "tests/standin/libs.h"

/** standin_ops_replace - Puts the stand-in's functions into @context. */
void standin_ops_replace(struct ibv_context *context);

#endif
