// SPDX-License-Identifier: BSD-3-Clause
/* The header of an ONC RPC message. */
#include "rpc/msg.h"
