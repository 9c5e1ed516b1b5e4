/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XDR types as data, and a walker that parses messages by them.
 *
 * A struct is an array of fields that X_END ends; it reads like the XDR description in the RFC:
 *
 *	static const struct nfs_field read3args[] = {X_OPAQUE(64), X_U64, X_COUNT, X_END};
 *
 * Types are not recursive: XDR's linked lists are X_LIST. So the walker's depth is that of the
 * types. Its time is linear in the length of the message, since each element of an array or list
 * takes at least four bytes. nfs_marks.elements_max bounds the number of elements.
 */
#ifndef NFS_XDR_TYPE_H
#define NFS_XDR_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr_sg.h"

#define NFS_MAX_DEPTH 10 /* nested structs; a test checks the tables */
#define NFS_NO_MAX    UINT32_MAX

enum nfs_kind {
	NFS_END,
	NFS_FIXED,    /* n bytes, padded */
	NFS_VECTOR,   /* a count of at most n, then that many elements of size_bytes each, padded */
	NFS_STRUCT,   /* a nested type */
	NFS_ARRAY,    /* a count of at most n, then that many elements of a type */
	NFS_OPTIONAL, /* a boolean, and the type if it is TRUE */
	/* Any number of elements of a type, TRUE before each and FALSE after the last. */
	NFS_LIST,
	NFS_STATUS, /* a status, then one type for zero and another for all others */
	NFS_UNION,  /* a discriminant, then the type of its arm */
};

/* What a walk reports about a field. */
enum nfs_mark {
	NFS_UNMARKED,
	NFS_MARK_DATA,    /* the DDP-eligible data item */
	NFS_MARK_COUNT,   /* a word, or a vector's count, by which the results grow */
	NFS_MARK_ATTRS,   /* a bitmap of requested attributes */
	NFS_MARK_SESSION, /* a session ID */
};

struct nfs_union;

struct nfs_field {
	uint8_t kind, mark;
	uint16_t size_bytes;
	uint32_t n;
	const struct nfs_field *type; /* of the elements, or after a status of zero */
	const struct nfs_field *fail; /* after any other status */
	const struct nfs_union *arms;
};

struct nfs_arm {
	uint32_t value;
	const struct nfs_field *type;
};

struct nfs_union {
	const struct nfs_field *otherwise; /* NULL: other values are invalid */
	unsigned count;
	const struct nfs_arm *arms;
};

/* clang-format off */
#define X_END              {.kind = NFS_END}
#define X_FIXED(bytes)     {.kind = NFS_FIXED, .n = (bytes)}
#define X_U32              X_FIXED(4)
#define X_U64              X_FIXED(8)
#define X_BOOL             X_FIXED(4)
#define X_VECTOR(max, sz)  {.kind = NFS_VECTOR, .n = (max), .size_bytes = (sz)}
#define X_OPAQUE(max)      X_VECTOR(max, 1)
#define X_STRING(max)      X_VECTOR(max, 1)
#define X_STRUCT(t)        {.kind = NFS_STRUCT, .type = (t)}
#define X_ARRAY(max, t)    {.kind = NFS_ARRAY, .n = (max), .type = (t)}
#define X_LIST(t)          {.kind = NFS_LIST, .type = (t)}
#define X_OPTIONAL(t)      {.kind = NFS_OPTIONAL, .type = (t)}
#define X_STATUS(ok, bad)  {.kind = NFS_STATUS, .type = (ok), .fail = (bad)}
#define X_UNION(u)         {.kind = NFS_UNION, .arms = &(u)}
/* The same with a mark. */
#define X_DATA(max)        {.kind = NFS_VECTOR, .mark = NFS_MARK_DATA, .n = (max), .size_bytes = 1}
#define X_COUNT            {.kind = NFS_FIXED, .mark = NFS_MARK_COUNT, .n = 4}
#define X_ATTRS(max)       {.kind = NFS_VECTOR, .mark = NFS_MARK_ATTRS, .n = (max), .size_bytes = 4}
#define X_COUNTED(max, sz) {.kind = NFS_VECTOR, .mark = NFS_MARK_COUNT, .n = (max), .size_bytes = (sz)}
#define X_SESSION(sz)      {.kind = NFS_FIXED, .mark = NFS_MARK_SESSION, .n = (sz)}
/* clang-format on */

/* Defines a union: its name, the type for other values or NULL, and {value, type} for each arm. */
#define NFS_UNION_TYPE(name, other, ...)                                                           \
	static const struct nfs_arm name##_arms[] = {__VA_ARGS__};                                 \
	static const struct nfs_union name = {other, ARRAY_SIZE(name##_arms), name##_arms}

/** nfs_void - The type without fields. */
extern const struct nfs_field nfs_void[];

/* Maximum words of a bitmap of attributes; a test checks the tables. */
#define NFS_MARK_ATTRS_WORDS   8u
#define NFS_MARK_SESSION_BYTES 16u

/* Gets each counted opaque and string in order. The message can end before its last byte. */
struct nfs_listener {
	/*
	 * @offset_bytes: of the opaque's first byte, after its length word; @is_data: it is the
	 * DDP-eligible data item. Returns how many bytes the opaque takes in the buffer: normally
	 * xdr_padded_bytes(@len_bytes).
	 */
	uint64_t (*on_opaque)(struct nfs_listener *listener, uint32_t offset_bytes,
			      uint32_t len_bytes, bool is_data);
};

/* What walks have found. Initialize with {0}, except for listener, elements_max and elements. */
struct nfs_marks {
	struct nfs_listener *listener; /* NULL: none */
	uint32_t elements_max;         /* of arrays and lists; 0: no limit */
	uint32_t elements;             /* elements so far */
	uint32_t status;               /* the last status read */
	uint32_t count;                /* the largest NFS_MARK_COUNT */
	uint32_t data_offset;          /* of the data item's first byte in the message; 0: none */
	uint32_t data_bytes;           /* without padding */
	uint32_t attrs_words;          /* 0: no bitmap, or an empty one */
	bool has_session;
	uint8_t session[NFS_MARK_SESSION_BYTES];
	uint8_t attrs[4 * NFS_MARK_ATTRS_WORDS]; /* as on the wire */
};

/**
 * nfs_walk - Parses @type at @at
 *
 * Returns true with @at after the last field and @marks updated. Returns false if the message ends
 * too early, exceeds a maximum or elements_max, has an invalid value, or if a field that must be
 * read is not available (see xdr_sg_reader.stop).
 */
bool nfs_walk(struct xdr_sg_reader *at, const struct nfs_field *type,
	      struct nfs_marks *marks) MUST_CHECK;

#endif
