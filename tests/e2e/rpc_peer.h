/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenarios of rpc_peer: each has the clients and the server of a chain of proxies, or relays
 * to a server.
 */
#ifndef TESTS_E2E_RPC_PEER_H
#define TESTS_E2E_RPC_PEER_H

#include <stdint.h>

/* Ports on 127.0.0.1 that every scenario gets. */
struct ports {
	uint16_t front;    /* where clients connect */
	uint16_t back;     /* where the last proxy connects, and the scenario listens */
	uint16_t mount;    /* MOUNT, where clients connect */
	uint16_t upstream; /* the real NFS server, behind a relay */
};

/** scenario_retransmit - the same Call twice on a live connection; another Call under its XID. */
int scenario_retransmit(const struct ports *ports, int argc, char **argv);
/** scenario_copies - the same Call again in other bytes: RPCSEC_GSS with a higher sequence number, other credentials. */
int scenario_copies(const struct ports *ports, int argc, char **argv);
/** scenario_replay - OPERATION tcp|rdma CLIENTS [DIRECTORY]: lost before the Reply was read, and sent again. */
int scenario_replay(const struct ports *ports, int argc, char **argv);
/** scenario_returning - CLIENTS: they are reset and come back, as standard input says. */
int scenario_returning(const struct ports *ports, int argc, char **argv);
/** scenario_garbage - every kind of nonsense a client can send, beside a client that is served. */
int scenario_garbage(const struct ports *ports, int argc, char **argv);
/** scenario_serve_badly - be a server of one of those kinds, by its name, until killed. */
int scenario_serve_badly(const struct ports *ports, int argc, char **argv);
/** scenario_bad_server - every kind of nonsense a server can answer. */
int scenario_bad_server(const struct ports *ports, int argc, char **argv);
/** scenario_flow - CLIENTS CALLS BYTES STALLED resume|never|dropped: many clients in little memory, both directions. */
int scenario_flow(const struct ports *ports, int argc, char **argv);
/** scenario_both_ways - Calls of the server to the client, half-close, sizes. */
int scenario_both_ways(const struct ports *ports, int argc, char **argv);
/** scenario_reverse - passes|fails BYTES...: Calls of the server to the client, so long, and their Replies too. */
int scenario_reverse(const struct ports *ports, int argc, char **argv);
/** scenario_recall - CALLS: they wait while the server calls back, as standard input says. */
int scenario_recall(const struct ports *ports, int argc, char **argv);
/** scenario_large - carry|over MIB...: WRITEs and READs of so much at once, or WRITEs that are refused. */
int scenario_large(const struct ports *ports, int argc, char **argv);
/**
 * scenario_lying - PORT CALLS [ADDRESS]: an RDMA server at UPSTREAM that claims more than it has written, to clients at PORT
 *
 * With ADDRESS it listens there, for a proxy on verbs: lies are believed, and what was not written is no other client's.
 */
int scenario_lying(const struct ports *ports, int argc, char **argv);
/** scenario_steady - SECONDS [hung]: one Call after the other, each timed; beside a connection that hangs. */
int scenario_steady(const struct ports *ports, int argc, char **argv);
/** scenario_neighbour - SERVER: clients that ask all they can of a server of that kind, until killed. */
int scenario_neighbour(const struct ports *ports, int argc, char **argv);
/** scenario_hostile - SEED CONNECTIONS AT_ONCE TARGET...: hostile connections come and go. */
int scenario_hostile(const struct ports *ports, int argc, char **argv);
/** scenario_ask - RPCs of a real NFS server, one after the other and each timed, until SIGTERM. */
int scenario_ask(const struct ports *ports, int argc, char **argv);
/** scenario_doors - KIND PORT COUNT: so many clients of no use at PORT, beside one at FRONT that is served. */
int scenario_doors(const struct ports *ports, int argc, char **argv);
/** scenario_half_closed - gone PORT COUNT, reads PORT, back PORT: clients end their sending side, the server hangs. */
int scenario_half_closed(const struct ports *ports, int argc, char **argv);
/**
 * scenario_one_client - PORT [WORD...]: the server closes for what one client sends, and answers the proxy's own NULL
 *
 *	all       it closes for all but NULL
 *	dead      … and for that
 *	mismatch  it answers NULL by PROG_MISMATCH
 *	two       the client has two addresses
 *	good      another client is served
 *	connect   what the client sends is MOUNT
 *	mount     … and so is the NULL
 *	rpcbind   … and there is an rpcbind at port 111 to say where that is
 */
int scenario_one_client(const struct ports *ports, int argc, char **argv);
/** scenario_steps - from=ADDRESS:PORT hex=… text=… crlf sent mpa call shut closed stay: so a client does. */
int scenario_steps(const struct ports *ports, int argc, char **argv);
/** scenario_outage - CLIENTS: each makes one Call after the other, and comes back when it is closed; until killed. */
int scenario_outage(const struct ports *ports, int argc, char **argv);

#endif
