/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads pcap and pcapng files, and writes pcap. */
#ifndef TESTS_JUDGE_CAPTURE_H
#define TESTS_JUDGE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Counts of a file, other than its packets. */
struct capture_info {
	uint64_t packets;
	uint64_t cut;     /* truncated packets */
	uint64_t foreign; /* packets of link layers other than Ethernet and bare IP */
	uint64_t dropped; /* losses reported by the capturing program and its kernel */
};

/**
 * capture_packet_fn - Receives one IPv4 packet without its link layer; @at_us counts from no fixed
 * moment.
 */
typedef void capture_packet_fn(void *ctx, const uint8_t *ip, size_t len, uint64_t at_us);

/**
 * capture_read - Passes every IPv4 packet of a file to @packet
 *
 * Returns 0 or a negative errno; -EPROTO: not a capture file, or one that ends within a packet.
 */
int capture_read(const char *path, capture_packet_fn *packet, void *ctx, struct capture_info *info);

/**
 * capture_create - Creates a pcap file of bare IP packets; NULL on failure. Close it with fclose().
 */
FILE *capture_create(const char *path);
/** capture_put - Writes a packet that consists of a head and a body. */
void capture_put(FILE *file, uint64_t at_us, const uint8_t *head, size_t head_len,
		 const uint8_t *body, size_t body_len);

#endif
