/* SPDX-License-Identifier: BSD-3-Clause */
/* What RDMA legs are made from. */
#ifndef RPCRDMA_RDMA_CONFIG_H
#define RPCRDMA_RDMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/least.h"
#include "leg/leg.h"
#include "rpcrdma/dialect.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/rdma_counters.h"

/*
 * The longest header that a message of the size may have that the configuration program tells: the draft does not say
 * whether it counts, so there is room for both (A6.2-9).
 */
#define RDMA_HEADER_ROOM_BYTES 4096u

/* What an end does whose Reply was not read in time (A3.8-3). */
enum done_policy {
	DONE_POLICY_CLOSE,    /* the connection */
	DONE_POLICY_WITHDRAW, /* takes its memory back: reading it is an error from then on */
};

struct version_cache;

struct rdma_leg_config {
	struct leg_config leg;
	uint32_t credits; /* to ask for as requester, to grant at most as responder */
	uint32_t inline_threshold_bytes; /* told both ways, and posted: rdma_recv_bytes() */
	uint32_t max_segment_bytes;      /* longest segment to offer; 0: no limit of our own */
	bool remote_invalidation;        /* offer it, if the device can (C3.2-1, C3.2-2) */
	bool ddp; /* requester: move payloads by RDMA, where a Call or Reply has one; else whole messages */
	/* Legs that connect: where to come from; AF_UNSPEC: an address of the host's choice. Its port is not looked at. */
	struct sockaddr_storage source;
	bool source_foreign;   /* as in fabric_ep_params */
	uint16_t source_port;  /* if it can be had; 0: no matter which */
	bool source_port_only; /* from that port, or not at all */
	enum peer_id peer;     /* what the server is; for legs that connect */
	uint64_t keepalive_us; /* a peer that said nothing for so long is asked; 0: never */
	struct peer_memory *peer_memory; /* outlives the leg; NULL: nothing is kept */
	uint64_t peer_client; /* for that: a number for the address of the client that it serves */
	/* What version one is taken for. */
	enum dialect_id version_one;
	/* A Reply that is lent: how long its RDMA_DONE may take, and what is done then. 0: for ever. */
	uint64_t done_timeout_us;
	enum done_policy done_policy;
	/* Opaques of so many bytes or more are sent at a multiple of that, where there is RDMA_MSGP; 0: none are. */
	uint32_t padding_align_bytes, padding_threshold_bytes;
	bool config_protocol;        /* the configuration program is served, and asked */
	uint64_t reverse_timeout_us; /* how long a reverse Call waits for its Reply; 0: for ever */
	/* The highest version to speak: of legs that connect, to try first. 0: version one. */
	uint32_t highest_version;
	/* Where a leg that connects notes what it found of its server's; outlives the leg; NULL: nowhere. */
	struct version_cache *version_cache;
	uint32_t receive_max_bytes; /* the receive size may be raised to so much; 0: it is not */
	bool characteristics; /* version two: they are told, and those of the peer understood */
	bool reverse_chunks;  /* version two: reverse Calls may use chunks */
	/* A Call with a read chunk where its program's binding lets nothing move gets ERR_CHUNK; else it is executed. */
	bool strict_chunks;
	struct rdma_leg_counters *counters;
};

/**
 * rdma_recv_bytes - the receives that a leg begins with: what it tells is what it posts (C5.2-1)
 * @told_bytes:  told in private data
 * @least_bytes: what is taken by default in any version that it may come to speak (E5.2-3)
 * @configures:  it may have told it by the configuration program, too, and then a header comes besides (A6.2-9)
 *
 * Reverse Calls have no other receives. A TCP client invites callbacks of 4096 bytes, and servers send what it invites,
 * whatever is told them: the 8192 that are told by default hold these with their header, and with what RPCSEC_GSS adds.
 * Who tells 4096 or less is left with callbacks as long as that: a server that sends a longer one ends the connection.
 */
static inline uint32_t rdma_recv_bytes(uint32_t told_bytes, uint32_t least_bytes, bool configures)
{
	return most(told_bytes, least_bytes) + (configures ? RDMA_HEADER_ROOM_BYTES : 0);
}

/** rdma_reverse_free_bytes - of a reverse Call to a leg with such receives, and of its Reply, that take nothing from the budget. */
static inline uint32_t rdma_reverse_free_bytes(uint32_t recv_bytes)
{
	return least(recv_bytes, REVERSE_FREE_BYTES);
}

#endif
