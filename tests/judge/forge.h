/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generates captures for the judge's own test: packets, connections, messages. Each story
 * (make_capture.c) has connections without errors, except for the selected fault.
 */
#ifndef TESTS_JUDGE_FORGE_H
#define TESTS_JUDGE_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORGE_MAX_BYTES 8192u

struct end {
	uint32_t addr;
	uint16_t port;
	uint32_t seq;
};

struct conn {
	struct end end[2]; /* 0: who connects */
	uint32_t msn[2], read_msn[2];
	bool spoil; /* the next FPDU has a wrong CRC */
};

struct msg {
	uint8_t data[FORGE_MAX_BYTES];
	size_t len;
};

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define ACK 0x10

void forge_open(const char *path, const char *fault_name);
/** forge_close - returns the status to exit with: the fault must have been asked for. */
int forge_close(void);
/** fault - whether this one was chosen. */
bool fault(const char *name);

void connect_ends(struct conn *c, uint16_t from_port, uint16_t to_port);
void disconnect(struct conn *c);
void put_segment(const struct conn *c, unsigned side, uint8_t flags, uint32_t seq,
		 const uint8_t *data, size_t len);

void word(struct msg *m, uint32_t value);
void words(struct msg *m, unsigned count, const uint32_t *values);
void fill(struct msg *m, size_t len, uint8_t with);
void append(struct msg *m, const struct msg *tail);
void rpc_call(struct msg *m, uint32_t xid, uint32_t proc);
void rpc_reply(struct msg *m, uint32_t xid);

/** put_mpa - @depths: IRD and ORD; @sizes: the second word of RFC 8797's private data. */
void put_mpa(struct conn *c, unsigned side, uint32_t depths, uint32_t sizes);
void put_send(struct conn *c, unsigned side, const struct msg *payload);
/** put_send_part - some bytes of a Send; the first part begins it, the one with its last byte ends it. */
void put_send_part(struct conn *c, unsigned side, const struct msg *payload, size_t from,
		   size_t to);
void put_send_invalidate(struct conn *c, unsigned side, const struct msg *payload, uint32_t stag);
/** put_read - @side reads from a key of the other's. */
void put_read(struct conn *c, unsigned side, uint32_t stag, uint32_t len);
/** put_response - @side answers the oldest Read. */
void put_response(struct conn *c, unsigned side, uint32_t len);
/** put_write_data - @side writes into a chunk of the other's. */
void put_write_data(struct conn *c, unsigned side, uint32_t len);
void put_terminate(struct conn *c, unsigned side);
/** spoil_next - the next FPDU of this connection has a wrong CRC. */
void spoil_next(struct conn *c);
void put_record(struct conn *c, unsigned side, const struct msg *rpc);

/* The stories. */
void story_one(void);
void story_draft03(void);
void story_two(void);
void story_versions(void);
void story_crc(void);

#endif
