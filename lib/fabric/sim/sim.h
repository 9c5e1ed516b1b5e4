/* SPDX-License-Identifier: BSD-3-Clause */
/* The sim fabric: an in-memory pair for tests, with seeded faults. */
#ifndef FABRIC_SIM_SIM_H
#define FABRIC_SIM_SIM_H

#include "fabric/fabric.h"

extern const struct fabric_ops sim_fabric_ops;

#endif
