// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/xdr_type.h"

const struct nfs_field nfs_void[] = {X_END};

static void mark_count(struct nfs_marks *marks, uint32_t count)
{
	if (count > marks->count)
		marks->count = count;
}

static bool walk_fixed(struct xdr_sg_reader *at, const struct nfs_field *field,
		       struct nfs_marks *marks)
{
	const uint8_t *data;

	if (field->mark == NFS_UNMARKED)
		return xdr_sg_skip(at, xdr_padded_bytes(field->n));
	data = xdr_sg_get_bytes(at, field->n);
	if (!data)
		return false;
	if (field->mark == NFS_MARK_COUNT) {
		mark_count(marks, be32_get(data));
	} else if (field->mark == NFS_MARK_SESSION) {
		memcpy(marks->session, data, NFS_MARK_SESSION_BYTES);
		marks->has_session = true;
	}
	return true;
}

static bool walk_attrs(struct xdr_sg_reader *at, uint32_t words, struct nfs_marks *marks)
{
	const uint8_t *data = xdr_sg_get_bytes(at, XDR_UNIT_BYTES * words);

	if (!data)
		return false;
	memcpy(marks->attrs, data, XDR_UNIT_BYTES * words);
	marks->attrs_words = words;
	return true;
}

static bool walk_vector(struct xdr_sg_reader *at, const struct nfs_field *field,
			struct nfs_marks *marks)
{
	uint32_t count, start;
	uint64_t bytes;

	if (!xdr_sg_get_u32(at, &count) || count > field->n)
		return false;
	if (field->mark == NFS_MARK_ATTRS)
		return walk_attrs(at, count, marks);
	start = xdr_sg_offset(at);
	if (marks->listener && field->size_bytes == 1)
		bytes = marks->listener->on_opaque(marks->listener, start, count,
						   field->mark == NFS_MARK_DATA);
	else
		bytes = xdr_padded_bytes((uint64_t)count * field->size_bytes);
	if (!xdr_sg_skip(at, bytes))
		return false;
	if (field->mark == NFS_MARK_DATA) {
		marks->data_offset = start;
		marks->data_bytes = count;
	} else if (field->mark == NFS_MARK_COUNT) {
		mark_count(marks, count);
	}
	return true;
}

/* Counts @count more elements. Returns false beyond the limit. */
static bool count_elements(struct nfs_marks *marks, uint32_t count)
{
	if (marks->elements_max && count > marks->elements_max - marks->elements)
		return false;
	marks->elements += count;
	return true;
}

static bool walk_array(struct xdr_sg_reader *at, const struct nfs_field *field,
		       struct nfs_marks *marks)
{
	uint32_t count;

	if (!xdr_sg_get_count(at, field->n, XDR_UNIT_BYTES, &count) ||
	    !count_elements(marks, count))
		return false;
	while (count-- > 0)
		if (!nfs_walk(at, field->type, marks))
			return false;
	return true;
}

static bool walk_optional(struct xdr_sg_reader *at, const struct nfs_field *field,
			  struct nfs_marks *marks, bool *there)
{
	return xdr_sg_get_bool(at, there) && (!*there || nfs_walk(at, field->type, marks));
}

static bool walk_list(struct xdr_sg_reader *at, const struct nfs_field *field,
		      struct nfs_marks *marks)
{
	bool more = true;

	while (more)
		if (!count_elements(marks, 1) || !walk_optional(at, field, marks, &more))
			return false;
	return true;
}

static bool walk_union(struct xdr_sg_reader *at, const struct nfs_union *arms,
		       struct nfs_marks *marks)
{
	const struct nfs_field *type = arms->otherwise;
	uint32_t value;

	if (!xdr_sg_get_u32(at, &value))
		return false;
	for (unsigned i = 0; i < arms->count; i++)
		if (arms->arms[i].value == value)
			type = arms->arms[i].type;
	return type && nfs_walk(at, type, marks);
}

static bool walk_status(struct xdr_sg_reader *at, const struct nfs_field *field,
			struct nfs_marks *marks)
{
	if (!xdr_sg_get_u32(at, &marks->status))
		return false;
	return nfs_walk(at, marks->status == 0 ? field->type : field->fail, marks);
}

bool nfs_walk(struct xdr_sg_reader *at, const struct nfs_field *type, struct nfs_marks *marks)
{
	bool there, ok = true;

	for (; ok && type->kind != NFS_END; type++) {
		switch ((enum nfs_kind)type->kind) {
		case NFS_FIXED:
			ok = walk_fixed(at, type, marks);
			break;
		case NFS_VECTOR:
			ok = walk_vector(at, type, marks);
			break;
		case NFS_STRUCT:
			ok = nfs_walk(at, type->type, marks);
			break;
		case NFS_ARRAY:
			ok = walk_array(at, type, marks);
			break;
		case NFS_OPTIONAL:
			ok = walk_optional(at, type, marks, &there);
			break;
		case NFS_LIST:
			ok = walk_list(at, type, marks);
			break;
		case NFS_STATUS:
			ok = walk_status(at, type, marks);
			break;
		case NFS_UNION:
			ok = walk_union(at, type->arms, marks);
			break;
		case NFS_END:
			break;
		}
	}
	return ok;
}
