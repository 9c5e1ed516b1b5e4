/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenarios of rpc_peer: each has the clients and the server of a chain of proxies, or relays
 * to a server.
 */
#ifndef TESTS_E2E_RPC_PEER_H
#define TESTS_E2E_RPC_PEER_H

#include <stdint.h>

/* Ports on 127.0.0.1 that every scenario receives. */
struct ports {
	uint16_t front;    /* where clients connect */
	uint16_t back;     /* where the scenario listens, for the last proxy */
	uint16_t mount;    /* MOUNT, where clients connect */
	uint16_t upstream; /* the real NFS server, behind a relay */
};

/**
 * scenario_retransmit - Sends the same Call twice on a live connection; another Call with its XID.
 */
int scenario_retransmit(const struct ports *ports, int argc, char **argv);
/**
 * scenario_copies - Sends the same Call again with other bytes: RPCSEC_GSS with a higher sequence
 * number, other credentials.
 */
int scenario_copies(const struct ports *ports, int argc, char **argv);
/**
 * scenario_replay - OPERATION tcp|rdma CLIENTS [DIRECTORY]: loses the connection before the Reply
 * was read, and sends the Call again.
 */
int scenario_replay(const struct ports *ports, int argc, char **argv);
/** scenario_returning - CLIENTS: they are reset and reconnect, as standard input says. */
int scenario_returning(const struct ports *ports, int argc, char **argv);
/** scenario_garbage - Sends every kind of nonsense of a client, next to a client that is served. */
int scenario_garbage(const struct ports *ports, int argc, char **argv);
/** scenario_serve_badly - Acts as a server of one of those kinds, by its name, until killed. */
int scenario_serve_badly(const struct ports *ports, int argc, char **argv);
/** scenario_bad_server - Sends every kind of nonsense of a server. */
int scenario_bad_server(const struct ports *ports, int argc, char **argv);
/**
 * scenario_flow - CLIENTS CALLS BYTES STALLED resume|never|dropped: runs many clients in little
 * memory, both directions.
 */
int scenario_flow(const struct ports *ports, int argc, char **argv);
/** scenario_both_ways - Tests Calls of the server to the client, half-close, sizes. */
int scenario_both_ways(const struct ports *ports, int argc, char **argv);
/**
 * scenario_reverse - passes|fails BYTES...: makes Calls of these lengths from the server to the
 * client, with equally long Replies.
 */
int scenario_reverse(const struct ports *ports, int argc, char **argv);
/** scenario_recall - CALLS: they wait while the server calls back, as standard input says. */
int scenario_recall(const struct ports *ports, int argc, char **argv);
/**
 * scenario_large - carry|over MIB...: makes WRITEs and READs of that size, or WRITEs that are
 * rejected.
 */
int scenario_large(const struct ports *ports, int argc, char **argv);
/**
 * scenario_lying - PORT CALLS [ADDRESS]: runs an RDMA server at UPSTREAM that claims more than it
 * has written, to clients at PORT
 *
 * With ADDRESS it listens there, for a proxy on verbs: false claims are believed, and unwritten
 * bytes are no other client's.
 */
int scenario_lying(const struct ports *ports, int argc, char **argv);
/**
 * scenario_steady - SECONDS [hung]: makes one Call after the other, each timed; next to a
 * connection that hangs.
 */
int scenario_steady(const struct ports *ports, int argc, char **argv);
/**
 * scenario_neighbour - SERVER: runs clients that send all they can to a server of that kind, until
 * killed.
 */
int scenario_neighbour(const struct ports *ports, int argc, char **argv);
/** scenario_hostile - SEED CONNECTIONS AT_ONCE TARGET...: opens and closes hostile connections. */
int scenario_hostile(const struct ports *ports, int argc, char **argv);
/**
 * scenario_ask - Makes RPCs to a real NFS server, one after the other and each timed, until
 * SIGTERM.
 */
int scenario_ask(const struct ports *ports, int argc, char **argv);
/**
 * scenario_doors - KIND PORT COUNT: runs that many useless clients at PORT, next to one at FRONT
 * that is served.
 */
int scenario_doors(const struct ports *ports, int argc, char **argv);
/**
 * scenario_half_closed - gone PORT COUNT, reads PORT, back PORT: clients shut down their sending
 * side, the server hangs.
 */
int scenario_half_closed(const struct ports *ports, int argc, char **argv);
/**
 * scenario_one_client - PORT [WORD...]: the server closes because of one client's message, and
 * answers the proxy's own NULL
 *
 *	all       it closes for all but NULL
 *	dead      … and for that
 *	mismatch  it answers NULL by PROG_MISMATCH
 *	two       the client has two addresses
 *	good      another client is served
 *	connect   the client's message is for MOUNT
 *	mount     … and so is the NULL
 *	rpcbind   … and there is an rpcbind at port 111 that has its port
 */
int scenario_one_client(const struct ports *ports, int argc, char **argv);
/**
 * scenario_steps - from=ADDRESS:PORT hex=… text=… crlf sent mpa call shut closed stay: the actions
 * of a client.
 */
int scenario_steps(const struct ports *ports, int argc, char **argv);
/**
 * scenario_outage - CLIENTS: each makes one Call after the other, and reconnects when it is closed;
 * until killed.
 */
int scenario_outage(const struct ports *ports, int argc, char **argv);

#endif
