/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPC messages as packets of a TCP connection that never was: what an analyser needs to read them, whatever carried
 * them. Each message is a record of one fragment, in segments as long as an IP packet allows.
 *
 * The numbers of the stream are those of the messages that are written: one that is left out leaves no gap. Of a
 * message that is cut, only the first segment has bytes, and not all of its own: an analyser reads on from a segment
 * that is whole, and reads what there is of one that is not.
 */
#ifndef DAEMON_TAP_REBUILT_TCP_H
#define DAEMON_TAP_REBUILT_TCP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/tap/pcapng.h"
#include "rpc/record.h"

/* Both headers and a segment are 65,535 bytes over IPv4, and less than may be over IPv6. */
#define REBUILT_SEGMENT_BYTES 65495u
/* The most that is kept of a message that is not kept whole. */
#define REBUILT_CUT_BYTES (REBUILT_SEGMENT_BYTES - RECORD_MARK_BYTES - 1u)
/* The headers of IPv6 and TCP, with the one option that is used. */
#define REBUILT_HEAD_BYTES 64u
/* What rebuilt_tcp_open() and rebuilt_tcp_close() take, beside the comments. */
#define REBUILT_ENDS_BYTES (3u * (PCAPNG_PACKET_BYTES + REBUILT_HEAD_BYTES))

enum rebuilt_side { REBUILT_CLIENT, REBUILT_SERVER };

struct rebuilt_end {
	struct in6_addr host;
	uint16_t port; /* host order */
	uint32_t next; /* the number of the next byte that it sends */
};

struct rebuilt_tcp {
	bool is_ipv4;
	struct rebuilt_end ends[2]; /* by enum rebuilt_side */
};

struct rebuilt_message {
	enum rebuilt_side from;
	uint64_t at_us; /* since 1970 */
	const uint8_t *data;
	uint32_t len_bytes;
	uint32_t kept_bytes;         /* at @data; less than len_bytes: it is cut */
	const char *const *comments; /* of its first packet */
};

/**
 * rebuilt_tcp_init - a connection between two addresses, as IPv4 where both are or are v4-mapped
 * @seed: another one for each connection, so that one more between the same addresses is told apart
 *
 * An address of no family is taken for 0.0.0.0.
 */
void rebuilt_tcp_init(struct rebuilt_tcp *tcp, const struct sockaddr *client,
		      const struct sockaddr *server, uint64_t seed);
/** rebuilt_tcp_open - how it comes about; @comments are of the first packet. */
void rebuilt_tcp_open(struct rebuilt_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		      const char *const *comments);
/** rebuilt_tcp_kept_bytes - how much to keep of a message of @len_bytes: all if it is no longer than @whole_bytes. */
static inline uint32_t rebuilt_tcp_kept_bytes(uint32_t len_bytes, uint32_t whole_bytes)
{
	if (len_bytes <= whole_bytes)
		return len_bytes;
	return whole_bytes < REBUILT_CUT_BYTES ? whole_bytes : REBUILT_CUT_BYTES;
}
/** rebuilt_tcp_message_bytes - room for @kept_bytes of a message of @len_bytes, beside its comments. */
size_t rebuilt_tcp_message_bytes(uint32_t kept_bytes, uint32_t len_bytes);
/** rebuilt_tcp_message - a message; one that is cut and has more than REBUILT_CUT_BYTES is cut to those. */
void rebuilt_tcp_message(struct rebuilt_tcp *tcp, struct pcapng_writer *out,
			 const struct rebuilt_message *message);
/** rebuilt_tcp_close - how it ends: by the client. */
void rebuilt_tcp_close(struct rebuilt_tcp *tcp, struct pcapng_writer *out, uint64_t at_us,
		       const char *const *comments);

#endif
