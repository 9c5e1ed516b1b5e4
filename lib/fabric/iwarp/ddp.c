// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/ddp.h"

#include <stdio.h>
#include <string.h>

#include "base/be_bytes.h"
#include "base/compiler.h"

size_t ddp_header_bytes(const uint8_t control[2])
{
	if (control[0] & DDP_TAGGED)
		return DDP_TAGGED_BYTES;
	if ((control[1] & RDMAP_OPCODE_MASK) == RDMAP_READ_REQUEST)
		return DDP_UNTAGGED_BYTES + RDMAP_READ_BYTES;
	return DDP_UNTAGGED_BYTES;
}

void ddp_header_decode(const uint8_t *bytes, struct ddp_header *header)
{
	memset(header, 0, sizeof(*header));
	header->tagged = bytes[0] & DDP_TAGGED;
	header->last = bytes[0] & DDP_LAST;
	header->ddp_version = bytes[0] & DDP_VERSION_MASK;
	header->rdmap_version = bytes[1] & RDMAP_VERSION_MASK;
	header->opcode = bytes[1] & RDMAP_OPCODE_MASK;
	header->stag = be32_get(bytes + 2);
	if (header->tagged) {
		header->to = be64_get(bytes + 6);
	} else {
		header->qn = be32_get(bytes + 6);
		header->msn = be32_get(bytes + 10);
		header->mo = be32_get(bytes + 14);
	}
}

size_t ddp_header_encode(const struct ddp_header *header, uint8_t *out)
{
	out[0] = (uint8_t)((header->tagged ? DDP_TAGGED : 0) | (header->last ? DDP_LAST : 0) |
			   header->ddp_version);
	out[1] = (uint8_t)(header->rdmap_version | header->opcode);
	be32_put(out + 2, header->stag);
	if (header->tagged) {
		be64_put(out + 6, header->to);
		return DDP_TAGGED_BYTES;
	}
	be32_put(out + 6, header->qn);
	be32_put(out + 10, header->msn);
	be32_put(out + 14, header->mo);
	return DDP_UNTAGGED_BYTES;
}

void rdmap_read_decode(const uint8_t bytes[RDMAP_READ_BYTES], struct rdmap_read *read)
{
	read->sink_stag = be32_get(bytes);
	read->sink_to = be64_get(bytes + 4);
	read->size_bytes = be32_get(bytes + 12);
	read->source_stag = be32_get(bytes + 16);
	read->source_to = be64_get(bytes + 20);
}

void rdmap_read_encode(const struct rdmap_read *read, uint8_t out[RDMAP_READ_BYTES])
{
	be32_put(out, read->sink_stag);
	be64_put(out + 4, read->sink_to);
	be32_put(out + 12, read->size_bytes);
	be32_put(out + 16, read->source_stag);
	be64_put(out + 20, read->source_to);
}

size_t rdmap_terminate_encode(const struct rdmap_terminate *term, uint8_t *out)
{
	size_t len = TERM_CONTROL_BYTES;

	out[0] = (uint8_t)(term->layer << 4 | term->type);
	out[1] = term->code;
	out[2] = term->bits;
	out[3] = 0;
	if (term->bits & TERM_HDR_SEGMENT) {
		be16_put(out + len, term->segment_bytes);
		len += 2;
	}
	if (term->bits & TERM_HDR_DDP) {
		memcpy(out + len, term->header, term->header_bytes);
		len += term->header_bytes;
	}
	return len;
}

struct error_name {
	uint8_t layer, type, code;
	const char *name;
};

/* RFC 5040 section 4.8, RFC 5041 section 7.2, RFC 5044 section 8, RFC 6581 section 8. */
static const struct error_name error_names[] = {
	{TERM_RDMAP, TERM_RDMAP_CATASTROPHIC, 0x00, "local catastrophic error"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x00, "invalid STag"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x01, "base or bounds violation"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x02, "access rights violation"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x03, "STag not associated with the stream"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x04, "TO wrap"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x09, "STag cannot be invalidated"},
	{TERM_RDMAP, TERM_RDMAP_PROTECTION, 0xff, "unspecified protection error"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0x05, "invalid RDMAP version"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0x06, "unexpected opcode"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0x07, "catastrophic error of the stream"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0x08, "catastrophic error, global"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0x09, "STag cannot be invalidated"},
	{TERM_RDMAP, TERM_RDMAP_OPERATION, 0xff, "unspecified operation error"},
	{TERM_DDP, TERM_DDP_CATASTROPHIC, 0x00, "local catastrophic error"},
	{TERM_DDP, TERM_DDP_TAGGED, 0x00, "invalid STag"},
	{TERM_DDP, TERM_DDP_TAGGED, 0x01, "base or bounds violation"},
	{TERM_DDP, TERM_DDP_TAGGED, 0x02, "STag not associated with the stream"},
	{TERM_DDP, TERM_DDP_TAGGED, 0x03, "TO wrap"},
	{TERM_DDP, TERM_DDP_TAGGED, 0x04, "invalid DDP version"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x01, "invalid QN"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x02, "invalid MSN: no buffer available"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x03, "invalid MSN: out of range"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x04, "invalid MO"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x05, "message too long for its buffer"},
	{TERM_DDP, TERM_DDP_UNTAGGED, 0x06, "invalid DDP version"},
	{TERM_LLP, TERM_LLP_MPA, 0x01, "TCP connection lost"},
	{TERM_LLP, TERM_LLP_MPA, 0x02, "CRC mismatch"},
	{TERM_LLP, TERM_LLP_MPA, 0x03, "start of FPDU not found"},
	{TERM_LLP, TERM_LLP_MPA, 0x04, "invalid MPA request or reply"},
	{TERM_LLP, TERM_LLP_MPA, 0x05, "local catastrophic error"},
	{TERM_LLP, TERM_LLP_MPA, 0x06, "insufficient IRD"},
	{TERM_LLP, TERM_LLP_MPA, 0x07, "no matching RTR"},
};

/* Returns the name in the RFCs, or NULL if no RFC defines the error. */
static const char *terminate_name(unsigned layer, unsigned type, unsigned code)
{
	for (size_t i = 0; i < ARRAY_SIZE(error_names); i++) {
		const struct error_name *e = &error_names[i];

		if (e->layer == layer && e->type == type && e->code == code)
			return e->name;
	}
	return NULL;
}

static const char *layer_name(unsigned layer)
{
	static const char *const names[] = {"RDMAP", "DDP", "MPA"};

	return layer < ARRAY_SIZE(names) ? names[layer] : "unknown layer";
}

void rdmap_terminate_describe(const uint8_t *bytes, size_t len_bytes, char *text, size_t size)
{
	const char *name, *swapped;
	unsigned layer, type;
	int used;

	if (len_bytes < TERM_CONTROL_BYTES) {
		snprintf(text, size, "Terminate of %zu bytes", len_bytes);
		return;
	}
	layer = bytes[0] >> 4;
	type = bytes[0] & 0x0f;
	name = terminate_name(layer, type, bytes[1]);
	used = snprintf(text, size, "Terminate %02x %02x %02x %02x: %s: %s", bytes[0], bytes[1],
			bytes[2], bytes[3], layer_name(layer), name ? name : "unknown error");
	if (used < 0 || (size_t)used >= size)
		return;
	/* The layout is not siw's, or both readings are the same. */
	if ((name && !((bytes[2] & 0x07) && !(bytes[2] & 0xe0))) || (name && layer == type))
		return;
	swapped = terminate_name(type, layer, bytes[1]);
	if (swapped)
		snprintf(text + used, size - (size_t)used, "; as Linux siw writes it: %s: %s",
			 layer_name(type), swapped);
}

const char *rdmap_opcode_name(unsigned opcode)
{
	static const char *const names[] = {
		[RDMAP_WRITE] = "RDMA Write",
		[RDMAP_READ_REQUEST] = "Read Request",
		[RDMAP_READ_RESPONSE] = "Read Response",
		[RDMAP_SEND] = "Send",
		[RDMAP_SEND_INV] = "Send with Invalidate",
		[RDMAP_SEND_SE] = "Send with Solicited Event",
		[RDMAP_SEND_SE_INV] = "Send with Solicited Event and Invalidate",
		[RDMAP_TERMINATE] = "Terminate",
	};

	return opcode < ARRAY_SIZE(names) ? names[opcode] : "reserved opcode";
}
