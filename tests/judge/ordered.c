// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/ordered.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/judge/bytes.h"
#include "tests/judge/capture.h"

#define IP_TCP_BYTES  40u
#define SEGMENT_BYTES 60000u
#define FLAG_SYN      0x02
#define FLAG_PUSH     0x08
#define FLAG_ACK      0x10

/* A connection that is to be taken out. */
struct skipped_servers {
	struct skipped_servers *next;
	uint32_t addr[2];
	uint16_t port[2];
};

struct ordered {
	const char *path;
	FILE *file;
	struct skipped_servers *skipped_servers;
};

struct ordered *ordered_open(const char *path)
{
	struct ordered *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->path = path;
	o->file = capture_create(path);
	if (o->file)
		return o;
	free(o);
	return NULL;
}

/*
 * tshark takes the MPA request of a connection for an FPDU if one before it had the same ends. From the second on, the
 * connector has another address in the copy.
 */
static uint32_t addr_in_copy(const struct tcp_conn *conn, unsigned side)
{
	return conn->side[side].addr + (side == 0 ? conn->again << 24 : 0);
}

static void put_segment(const struct ordered *o, const struct tcp_conn *conn,
			const uint64_t written[2], unsigned side, uint8_t flags,
			const uint8_t *data, size_t len, uint64_t at_us)
{
	const struct tcp_side *from = &conn->side[side], *to = &conn->side[!side];
	uint8_t head[IP_TCP_BYTES] = {0x45};
	uint8_t *tcp = head + 20;

	put_be16(head + 2, (unsigned)(sizeof(head) + len));
	head[8] = 64;
	head[9] = 6;
	put_be32(head + 12, addr_in_copy(conn, side));
	put_be32(head + 16, addr_in_copy(conn, !side));
	put_be16(tcp, from->port);
	put_be16(tcp + 2, to->port);
	put_be32(tcp + 4, from->first + (uint32_t)written[side] - !!(flags & FLAG_SYN));
	if (flags & FLAG_ACK)
		put_be32(tcp + 8, to->first + (uint32_t)written[!side]);
	tcp[12] = 0x50;
	tcp[13] = flags;
	put_be16(tcp + 14, 0xffff);
	capture_put(o->file, at_us, head, sizeof(head), data, len);
}

void ordered_handshake(struct ordered *o, const struct tcp_conn *conn, uint64_t at_us)
{
	static const uint64_t nothing[2];

	if (!o)
		return;
	put_segment(o, conn, nothing, 0, FLAG_SYN, NULL, 0, at_us);
	put_segment(o, conn, nothing, 1, FLAG_SYN | FLAG_ACK, NULL, 0, at_us);
	put_segment(o, conn, nothing, 0, FLAG_ACK, NULL, 0, at_us);
}

void ordered_unit(struct ordered *o, const struct tcp_conn *conn, uint64_t written[2],
		  unsigned side, const uint8_t *data, size_t len, uint64_t at_us)
{
	while (o && len) {
		size_t part = len < SEGMENT_BYTES ? len : SEGMENT_BYTES;

		put_segment(o, conn, written, side, FLAG_ACK | FLAG_PUSH, data, part, at_us);
		written[side] += part;
		data += part;
		len -= part;
	}
}

/* ---------------------------------------------------------------- taken out */

void ordered_leave_out(struct ordered *o, const struct tcp_conn *conn)
{
	struct skipped_servers *left;

	if (!o)
		return;
	left = calloc(1, sizeof(*left));
	if (!left)
		abort();
	for (unsigned i = 0; i < 2; i++) {
		left->addr[i] = addr_in_copy(conn, i);
		left->port[i] = conn->side[i].port;
	}
	left->next = o->skipped_servers;
	o->skipped_servers = left;
}

static bool is_from(const struct skipped_servers *left, const uint8_t *ip, unsigned side)
{
	return get_be32(ip + 12) == left->addr[side] && get_be32(ip + 16) == left->addr[!side] &&
	       get_be16(ip + 20) == left->port[side] && get_be16(ip + 22) == left->port[!side];
}

static void keep(void *ctx, const uint8_t *ip, size_t len, uint64_t at_us)
{
	const struct ordered *o = ctx;

	for (const struct skipped_servers *left = o->skipped_servers; left; left = left->next) {
		if (is_from(left, ip, 0) || is_from(left, ip, 1))
			return;
	}
	capture_put(o->file, at_us, ip, len, NULL, 0);
}

static int close_file(FILE *file)
{
	bool bad = fflush(file) || ferror(file);

	return fclose(file) || bad ? -EIO : 0;
}

/* Writes the file again, under another name. */
static int take_out(struct ordered *o)
{
	struct capture_info info;
	char *path;
	int err;

	if (asprintf(&path, "%s.part", o->path) < 0)
		abort();
	o->file = capture_create(path);
	if (o->file) {
		err = capture_read(o->path, keep, o, &info);
		if (close_file(o->file) && !err)
			err = -EIO;
		if (!err && rename(path, o->path))
			err = -errno;
	} else {
		err = -errno;
	}
	free(path);
	return err;
}

int ordered_close(struct ordered *o)
{
	int err = close_file(o->file);
	struct skipped_servers *left;

	if (!err && o->skipped_servers)
		err = take_out(o);
	while ((left = o->skipped_servers)) {
		o->skipped_servers = left->next;
		free(left);
	}
	free(o);
	return err;
}
