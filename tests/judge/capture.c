// SPDX-License-Identifier: BSD-3-Clause
/* Maps capture files into memory and walks them once. Only files in this machine's byte order. */
#include "tests/judge/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/judge/bytes.h"

#define PCAP_MAGIC_US  0xa1b2c3d4u
#define PCAP_MAGIC_NS  0xa1b23c4du
#define PCAP_HEADER    24u
#define PCAP_RECORD    16u
#define LINK_ETHERNET  1u
#define LINK_RAW       101u
#define ETHER_BYTES    14u
#define ETHERTYPE_IPV4 0x0800
#define NG_SECTION     0x0a0d0d0au
#define NG_MAGIC       0x1a2b3c4du
#define NG_INTERFACE   1u
#define NG_STATISTICS  5u
#define NG_PACKET      6u
#define NG_MAX_LINKS   16u
#define NG_IFDROP      5u
#define NG_OSDROP      7u

struct reader {
	capture_packet_fn *packet;
	void *ctx;
	struct capture_info *info;
	uint32_t links[NG_MAX_LINKS];
	unsigned link_count;
};

static uint16_t host16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static uint32_t host32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static void take(struct reader *r, uint32_t link, const uint8_t *data, size_t len, size_t full,
		 uint64_t at_us)
{
	r->info->packets++;
	if (len < full)
		r->info->cut++;
	if (link == LINK_ETHERNET) {
		if (len < ETHER_BYTES || get_be16(data + 12) != ETHERTYPE_IPV4)
			return;
		data += ETHER_BYTES;
		len -= ETHER_BYTES;
	} else if (link != LINK_RAW) {
		r->info->foreign++;
		return;
	}
	r->packet(r->ctx, data, len, at_us);
}

static int read_pcap(struct reader *r, const uint8_t *at, size_t left)
{
	uint32_t unit = host32(at) == PCAP_MAGIC_NS ? 1000 : 1;
	uint32_t link;

	if (left < PCAP_HEADER)
		return -EPROTO;
	link = host32(at + 20);
	for (at += PCAP_HEADER, left -= PCAP_HEADER; left;) {
		uint32_t len, full;

		if (left < PCAP_RECORD)
			return -EPROTO;
		len = host32(at + 8);
		full = host32(at + 12);
		if (len > left - PCAP_RECORD)
			return -EPROTO;
		take(r, link, at + PCAP_RECORD, len, full,
		     host32(at) * UINT64_C(1000000) + host32(at + 4) / unit);
		at += PCAP_RECORD + len;
		left -= PCAP_RECORD + len;
	}
	return 0;
}

/* The options of a statistics block: what was lost. */
static void read_statistics(struct reader *r, const uint8_t *at, size_t left)
{
	while (left >= 4) {
		unsigned code = host16(at);
		size_t len = host16(at + 2);
		uint64_t value;

		at += 4;
		left -= 4;
		if (!code || len > left)
			return;
		if ((code == NG_IFDROP || code == NG_OSDROP) && len == sizeof(value)) {
			memcpy(&value, at, sizeof(value));
			r->info->dropped += value;
		}
		len = (len + 3) & ~(size_t)3;
		if (len > left)
			return;
		at += len;
		left -= len;
	}
}

/* The body of a block of a kind that matters. */
static int read_block(struct reader *r, uint32_t type, const uint8_t *at, size_t left)
{
	switch (type) {
	case NG_SECTION:
		if (left < 4 || host32(at) != NG_MAGIC)
			return -EPROTO;
		r->link_count = 0;
		return 0;
	case NG_INTERFACE:
		if (left < 8 || r->link_count == NG_MAX_LINKS)
			return -EPROTO;
		r->links[r->link_count++] = host16(at);
		return 0;
	case NG_STATISTICS:
		if (left < 12)
			return -EPROTO;
		read_statistics(r, at + 12, left - 12);
		return 0;
	case NG_PACKET:
		if (left < 20 || host32(at) >= r->link_count || host32(at + 12) > left - 20)
			return -EPROTO;
		take(r, r->links[host32(at)], at + 20, host32(at + 12), host32(at + 16),
		     ((uint64_t)host32(at + 4) << 32 | host32(at + 8)) / 1000);
		return 0;
	default:
		return 0;
	}
}

static int read_pcapng(struct reader *r, const uint8_t *at, size_t left)
{
	while (left) {
		size_t len;
		int err;

		if (left < 12)
			return -EPROTO;
		len = host32(at + 4);
		if (len < 12 || len > left || len & 3)
			return -EPROTO;
		err = read_block(r, host32(at), at + 8, len - 12);
		if (err)
			return err;
		at += len;
		left -= len;
	}
	return 0;
}

int capture_read(const char *path, capture_packet_fn *packet, void *ctx, struct capture_info *info)
{
	struct reader r = {.packet = packet, .ctx = ctx, .info = info};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *map;
	int err = -EPROTO;

	*info = (struct capture_info){0};
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size < 4) {
		close(fd);
		return -EPROTO;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	if (host32(map) == NG_SECTION)
		err = read_pcapng(&r, map, (size_t)st.st_size);
	else if (host32(map) == PCAP_MAGIC_US || host32(map) == PCAP_MAGIC_NS)
		err = read_pcap(&r, map, (size_t)st.st_size);
	munmap(map, (size_t)st.st_size);
	return err;
}

FILE *capture_create(const char *path)
{
	const uint32_t header[] = {PCAP_MAGIC_US, 2 | 4 << 16, 0, 0, 262144, LINK_RAW};
	FILE *file = fopen(path, "wb");

	if (file)
		fwrite(header, sizeof(header), 1, file);
	return file;
}

void capture_put(FILE *file, uint64_t at_us, const uint8_t *head, size_t head_len,
		 const uint8_t *body, size_t body_len)
{
	uint32_t len = (uint32_t)(head_len + body_len);
	const uint32_t record[] = {(uint32_t)(at_us / 1000000), (uint32_t)(at_us % 1000000), len,
				   len};

	fwrite(record, sizeof(record), 1, file);
	fwrite(head, head_len, 1, file);
	if (body_len)
		fwrite(body, body_len, 1, file);
}
