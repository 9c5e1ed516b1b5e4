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
	struct end end[2]; /* 0: the end that connects */
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
/** forge_close - Returns the exit status: fault() must have been called for the chosen fault. */
int forge_close(void);
/** fault - Returns whether this one was chosen. */
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

/**
 * put_mpa - Writes the MPA frames. @depths: IRD and ORD; @sizes: the second word of RFC 8797's
 * private data.
 */
void put_mpa(struct conn *c, unsigned side, uint32_t depths, uint32_t sizes);
void put_send(struct conn *c, unsigned side, const struct msg *payload);
/**
 * put_send_part - Writes some bytes of a Send; the first part begins it, the one with its last byte
 * ends it.
 */
void put_send_part(struct conn *c, unsigned side, const struct msg *payload, size_t from,
		   size_t to);
void put_send_invalidate(struct conn *c, unsigned side, const struct msg *payload, uint32_t stag);
/** put_read - Writes @side's Read from a key of the other. */
void put_read(struct conn *c, unsigned side, uint32_t stag, uint32_t len);
/** put_response - Writes @side's answer to the oldest Read. */
void put_response(struct conn *c, unsigned side, uint32_t len);
/** put_write_data - Writes @side's Write into a chunk of the other. */
void put_write_data(struct conn *c, unsigned side, uint32_t len);
void put_terminate(struct conn *c, unsigned side);
/** spoil_next - Gives the next FPDU of this connection a wrong CRC. */
void spoil_next(struct conn *c);
void put_record(struct conn *c, unsigned side, const struct msg *rpc);

/* The stories. */
void story_one(void);
void story_draft03(void);
void story_two(void);
void story_versions(void);
void story_crc(void);

#endif
