#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A client that waits too long retransmits its Call with other bytes: with RPCSEC_GSS a higher sequence number, with
# AUTH_SYS possibly another credential. The server receives the Call once, its late Reply goes to the client, and the
# connection stays open.
BACK_PORT=3049 ONE_PORT=12050
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
# one_proxy: prints a service of proxy a with TCP on both sides
one_proxy() { service one "tcp://127.0.0.1:$ONE_PORT" "tcp://127.0.0.1:$BACK_PORT"; }
A_MORE=one_proxy
start_chain

# swallowed: the proxy discards one of two copies in each of 32 RPCs, through one proxy and through two
swallowed() { counter_is a tcp retransmissions_swallowed -eq 128; }
# denied: a Reply that did not decode, for three services in four sizes, and which proxy answered it
denied() { counter_is a tcp auth_failed_sent -eq 12 && counter_is b rdma auth_failed_sent -eq 12; }

check "copies in other bytes reach the server once, through one proxy" rpc_peer $ONE_PORT "$BACK_PORT" 0 0 copies
check "… through two" rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 copies
check "the copies are counted" swallowed
check "Replies of the proxy's own to RPCSEC_GSS Calls are denied ones, and counted" denied
check "no connection was closed for a reused XID" counter_is a closes xid_reused -eq 0
finish
