/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of the Connection Configuration Protocol (draft-ietf-nfsv4-rpcrdma-03 section 6): Calls to its program
 * are answered here and never passed on (A6.2-8).
 *
 * What the client says of itself holds from then on, and before its private data: the first time, and if no other
 * Call is in flight. Else nothing changes. What this end says is always the same, and in force from the beginning
 * (A6.1-2).
 */
#ifndef RPCRDMA_DRAFT03_CCP_SERVER_H
#define RPCRDMA_DRAFT03_CCP_SERVER_H

#include "rpcrdma/responder_rpc.h"

/** ccp_server_serves - whether the program is served to who made this Call; else it is PROG_UNAVAIL (A6.2-10). */
bool ccp_server_serves(const struct responder_rpc *rpc);
/** ccp_server_answer - answer a complete Call to it, whose header is decoded; it is over then. */
void ccp_server_answer(struct responder_rpc *rpc);

#endif
