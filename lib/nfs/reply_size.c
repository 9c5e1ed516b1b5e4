// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/reply_size.h"

#define REPLY_HEADER_BYTES (6 * 4 + RPC_MAX_AUTH_BYTES) /* RFC 5531 section 9, to accept_stat */
#define MISMATCH_BYTES     8                            /* most that an error Reply carries */
/*
 * RFC 2203 section 5.3.3.2: a length and the sequence number before the results, a checksum after
 * them, which can be as long as a verifier.
 */
#define INTEGRITY_REPLY_BYTES (4 + 4 + NFS_VAR_BYTES(RPC_MAX_AUTH_BYTES))
/*
 * Context set-up: Kerberos tickets of users in many groups get 64 KiB, and an answer can be as
 * large as the request. The rest is for the context's handle and status words.
 */
#define GSS_CONTROL_REPLY_BYTES (64 * 1024 + 1024)

/* ---- sizes of the NFSv4 attributes ---- */

#define BITMAP   NFS_VAR_BYTES(4 * NFS4_BITMAP_WORDS)
#define FH4      NFS_VAR_BYTES(128)
#define NFSTIME4 12u
#define SETTIME4 (4 + NFSTIME4)
#define OWNER    NFS_VAR_BYTES(NFS4_OWNER_BYTES)

/* clang-format off */
static const uint32_t attr_bytes[] = {
	/* RFC 7530 section 5.8.1, required */
	[0] = BITMAP,		/* supported_attrs */
	[1] = 4,		/* type */
	[2] = 4,		/* fh_expire_type */
	[3] = 8,		/* change */
	[4] = 8,		/* size */
	[5] = 4,		/* link_support */
	[6] = 4,		/* symlink_support */
	[7] = 4,		/* named_attr */
	[8] = 16,		/* fsid */
	[9] = 4,		/* unique_handles */
	[10] = 4,		/* lease_time */
	[11] = 4,		/* rdattr_error */
	[19] = FH4,		/* filehandle */
	/* Section 5.8.2, recommended */
	[12] = NFS4_ACL_BYTES,	/* acl */
	[13] = 4,		/* aclsupport */
	[14] = 4,		/* archive */
	[15] = 4,		/* cansettime */
	[16] = 4,		/* case_insensitive */
	[17] = 4,		/* case_preserving */
	[18] = 4,		/* chown_restricted */
	[20] = 8,		/* fileid */
	[21] = 8,		/* files_avail */
	[22] = 8,		/* files_free */
	[23] = 8,		/* files_total */
	[24] = NFS4_LOCATIONS_BYTES, /* fs_locations */
	[25] = 4,		/* hidden */
	[26] = 4,		/* homogeneous */
	[27] = 8,		/* maxfilesize */
	[28] = 4,		/* maxlink */
	[29] = 4,		/* maxname */
	[30] = 8,		/* maxread */
	[31] = 8,		/* maxwrite */
	[32] = NFS_VAR_BYTES(NFS4_MIMETYPE_BYTES), /* mimetype */
	[33] = 4,		/* mode */
	[34] = 4,		/* no_trunc */
	[35] = 4,		/* numlinks */
	[36] = OWNER,		/* owner */
	[37] = OWNER,		/* owner_group */
	[38] = 8,		/* quota_avail_hard */
	[39] = 8,		/* quota_avail_soft */
	[40] = 8,		/* quota_used */
	[41] = 8,		/* rawdev */
	[42] = 8,		/* space_avail */
	[43] = 8,		/* space_free */
	[44] = 8,		/* space_total */
	[45] = 8,		/* space_used */
	[46] = 4,		/* system */
	[47] = NFSTIME4,	/* time_access */
	[48] = SETTIME4,	/* time_access_set: not to be read */
	[49] = NFSTIME4,	/* time_backup */
	[50] = NFSTIME4,	/* time_create */
	[51] = NFSTIME4,	/* time_delta */
	[52] = NFSTIME4,	/* time_metadata */
	[53] = NFSTIME4,	/* time_modify */
	[54] = SETTIME4,	/* time_modify_set: not to be read */
	[55] = 8,		/* mounted_on_fileid */
	/* RFC 8881 sections 5.8 to 5.13 */
	[56] = NFSTIME4,	/* dir_notif_delay */
	[57] = NFSTIME4,	/* dirent_notif_delay */
	[58] = 4 + NFS4_ACL_BYTES, /* dacl: a flag word, then an acl */
	[59] = 4 + NFS4_ACL_BYTES, /* sacl */
	[60] = 16,		/* change_policy */
	[61] = NFS4_FS_STATUS_BYTES, /* fs_status */
	[62] = NFS_VAR_BYTES(4 * NFS4_LAYOUT_TYPES), /* fs_layout_type */
	[63] = NFS4_LAYOUT_HINT_BYTES, /* layout_hint: not to be read */
	[64] = NFS_VAR_BYTES(4 * NFS4_LAYOUT_TYPES), /* layout_type */
	[65] = 4,		/* layout_blksize */
	[66] = 4,		/* layout_alignment */
	[67] = NFS4_LOCATIONS_BYTES, /* fs_locations_info */
	[68] = NFS4_MDSTHRESHOLD_BYTES, /* mdsthreshold */
	[69] = 8 + 4 + NFSTIME4, /* retention_get */
	[70] = 4 + 4 + 8,	/* retention_set: not to be read */
	[71] = 8 + 4 + NFSTIME4, /* retentevt_get */
	[72] = 4 + 4 + 8,	/* retentevt_set: not to be read */
	[73] = 8,		/* retention_hold */
	[74] = 8,		/* mode_set_masked: not to be read */
	[75] = BITMAP,		/* suppattr_exclcreat */
	[76] = 4,		/* fs_charset_cap */
	/* RFC 7862 section 12.2 */
	[77] = 4,		/* clone_blksize */
	[78] = 8,		/* space_freed */
	[79] = 4,		/* change_attr_type */
	[80] = 8 + NFS_VAR_BYTES(NFS4_LABEL_BYTES), /* sec_label */
	[81] = 8,		/* mode_umask: not to be read (RFC 8275) */
	[82] = 4,		/* xattr_support (RFC 8276) */
	/* RFC 9754 */
	[83] = 4,		/* offline */
	[84] = NFSTIME4,	/* time_deleg_access */
	[85] = NFSTIME4,	/* time_deleg_modify */
	[86] = 5 * BITMAP,	/* open_arguments */
};
/* clang-format on */

/*
 * Bounds the attrlist4 of a request for attributes: the values, without bitmap and length. @words,
 * @count: the bitmap of the request as on the wire; NULL: none. Returns NFS_UNBOUNDED if an
 * attribute is unknown.
 */
static uint64_t attrs_bytes(const uint8_t *words, uint32_t count)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; words && i < count; i++) {
		uint32_t word = be32_get(words + 4 * i);

		for (; word; word &= word - 1) {
			uint32_t attr = 32 * i + (uint32_t)__builtin_ctz(word);

			if (attr >= ARRAY_SIZE(attr_bytes))
				return NFS_UNBOUNDED;
			bytes += attr_bytes[attr];
		}
	}
	return bytes;
}

/* ---- results ---- */

/* Returns how much the results grow with the arguments. */
static uint64_t growth_bytes(enum nfs_growth growth, const struct nfs_marks *marks)
{
	uint64_t count = marks->count;

	switch (growth) {
	case NFS_GROWS_NOT:
		return 0;
	case NFS_GROWS_COUNT:
		return xdr_padded_bytes(count);
	case NFS_GROWS_SLACK:
		return xdr_padded_bytes(count) + NFS_COUNT_SLACK_BYTES;
	case NFS_GROWS_SEGMENTS:
		return xdr_padded_bytes(count) +
		       (count / NFS_SEGMENT_MIN_BYTES + 2) * NFS_SEGMENT_HEAD_BYTES;
	case NFS_GROWS_WORDS:
		return count * XDR_UNIT_BYTES;
	case NFS_GROWS_DEVICES:
		return count * NFS_DEVICE_ID_BYTES;
	case NFS_GROWS_ATTRS:
		return attrs_bytes(marks->attrs, marks->attrs_words);
	case NFS_GROWS_FREELY:
		break;
	}
	return NFS_UNBOUNDED;
}

uint64_t nfs_reply_frame_bytes(enum call_body_kind body)
{
	uint64_t bytes = REPLY_HEADER_BYTES + MISMATCH_BYTES;

	if (body == CALL_BODY_INTEGRITY)
		bytes += INTEGRITY_REPLY_BYTES;
	else if (body == CALL_BODY_CONTROL)
		bytes += GSS_CONTROL_REPLY_BYTES;
	return bytes;
}

/* A status, a tag, and the number of operations. */
uint64_t nfs_reply_compound_bytes(const struct nfs_compound *compound)
{
	return 4 + 4 + xdr_padded_bytes((uint64_t)compound->tag_bytes + NFS_TAG_SLACK_BYTES) + 4;
}

uint64_t nfs_reply_results_bytes(const struct nfs_proc *proc, const struct nfs_marks *marks)
{
	uint64_t growth = growth_bytes(proc->growth, marks);

	return growth == NFS_UNBOUNDED ? NFS_UNBOUNDED : proc->bound_bytes + growth;
}
