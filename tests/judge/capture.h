/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads pcap and pcapng files, and writes pcap. */
#ifndef TESTS_JUDGE_CAPTURE_H
#define TESTS_JUDGE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a file holds besides its packets. */
struct capture_info {
	uint64_t packets;
	uint64_t cut;     /* packets of which the file has not every byte */
	uint64_t foreign; /* packets of link layers other than Ethernet and bare IP */
	uint64_t dropped; /* what the capturing program and its kernel say they lost */
};

/** capture_packet_fn - one IPv4 packet, its link layer taken off; @at_us counts from no fixed moment. */
typedef void capture_packet_fn(void *ctx, const uint8_t *ip, size_t len, uint64_t at_us);

/**
 * capture_read - hand every IPv4 packet of a file to @packet
 *
 * Returns 0 or a negative errno; -EPROTO: not a capture file, or one that ends within a packet.
 */
int capture_read(const char *path, capture_packet_fn *packet, void *ctx, struct capture_info *info);

/** capture_create - a pcap file of bare IP packets; NULL: cannot be made. Closed with fclose(). */
FILE *capture_create(const char *path);
/** capture_put - write a packet that is put together of a head and a body. */
void capture_put(FILE *file, uint64_t at_us, const uint8_t *head, size_t head_len,
		 const uint8_t *body, size_t body_len);

#endif
