/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names the operation that a Call is counted as, the same in all versions of NFS.
 *
 * A COMPOUND counts as the first entry of NFS_OPERATIONS_RANKED that it contains, at any place, or
 * else as its last operation. If the body is encrypted, only the procedure is known, and it counts
 * as COMPOUND.
 */
#ifndef NFS_OPERATION_H
#define NFS_OPERATION_H

#include "rpc/call_info.h"

/* clang-format off */
/* Operations by which a COMPOUND is counted, highest rank first. */
#define NFS_OPERATIONS_RANKED(X) \
	X(WRITE) X(READ) X(COMMIT) X(CREATE) X(OPEN) X(REMOVE) X(RENAME) X(READDIR) X(LOCK) \
	X(LINK) X(SETATTR) X(COPY) X(CLONE) X(READ_PLUS) X(WRITE_SAME) X(ALLOCATE) \
	X(DEALLOCATE) X(SEEK) X(LOCKU) X(LOCKT) X(CLOSE) X(OPEN_DOWNGRADE) X(OPEN_CONFIRM) \
	X(DELEGRETURN) X(LAYOUTGET) X(LAYOUTCOMMIT) X(LAYOUTRETURN) X(READLINK) X(GETXATTR) \
	X(SETXATTR) X(LISTXATTRS) X(REMOVEXATTR) X(LOOKUP) X(LOOKUPP) X(ACCESS) X(GETATTR)

/* The other operations of NFSv4. */
#define NFS_OPERATIONS_V4(X) \
	X(DELEGPURGE) X(GETFH) X(NVERIFY) X(OPENATTR) X(PUTFH) X(PUTPUBFH) X(PUTROOTFH) \
	X(RENEW) X(RESTOREFH) X(SAVEFH) X(SECINFO) X(SETCLIENTID) X(SETCLIENTID_CONFIRM) \
	X(VERIFY) X(RELEASE_LOCKOWNER) X(BACKCHANNEL_CTL) X(BIND_CONN_TO_SESSION) \
	X(EXCHANGE_ID) X(CREATE_SESSION) X(DESTROY_SESSION) X(FREE_STATEID) \
	X(GET_DIR_DELEGATION) X(GETDEVICEINFO) X(GETDEVICELIST) X(SECINFO_NO_NAME) \
	X(SEQUENCE) X(SET_SSV) X(TEST_STATEID) X(WANT_DELEGATION) X(DESTROY_CLIENTID) \
	X(RECLAIM_COMPLETE) X(COPY_NOTIFY) X(IO_ADVISE) X(LAYOUTERROR) X(LAYOUTSTATS) \
	X(OFFLOAD_CANCEL) X(OFFLOAD_STATUS) X(ILLEGAL) X(COMPOUND)

/* Procedures that only NFSv2 and NFSv3 have, and procedure 0 of every program. */
#define NFS_OPERATIONS_OLD(X) \
	X(NULL) X(MKDIR) X(SYMLINK) X(MKNOD) X(RMDIR) X(READDIRPLUS) X(FSSTAT) X(FSINFO) \
	X(PATHCONF) X(ROOT) X(WRITECACHE) X(STATFS)

/* Callbacks of a server to its clients. */
#define NFS_OPERATIONS_CALLBACK(X) \
	X(CB_GETATTR) X(CB_RECALL) X(CB_LAYOUTRECALL) X(CB_NOTIFY) X(CB_PUSH_DELEG) \
	X(CB_RECALL_ANY) X(CB_RECALLABLE_OBJ_AVAIL) X(CB_RECALL_SLOT) X(CB_SEQUENCE) \
	X(CB_WANTS_CANCELLED) X(CB_NOTIFY_LOCK) X(CB_NOTIFY_DEVICEID) X(CB_OFFLOAD) \
	X(CB_NULL) X(CB_COMPOUND)

/* Procedures of the other programs, as PROGRAM_PROCEDURE. */
#define NFS_OPERATIONS_OTHER_PROGRAMS(X) \
	X(MOUNT_MNT) X(MOUNT_DUMP) X(MOUNT_UMNT) X(MOUNT_UMNTALL) X(MOUNT_EXPORT) \
	X(MOUNT_EXPORTALL) X(MOUNT_PATHCONF) X(NFSACL_GETACL) X(NFSACL_SETACL) \
	X(NFSACL_GETATTR) X(NFSACL_ACCESS) X(NFSACL_GETXATTRDIR) X(NLM) X(NSM) X(RPCBIND)

/* clang-format on */
#define NFS_OPERATIONS(X)                                                                          \
	NFS_OPERATIONS_RANKED(X)                                                                   \
	NFS_OPERATIONS_V4(X)                                                                       \
	NFS_OPERATIONS_OLD(X)                                                                      \
	NFS_OPERATIONS_CALLBACK(X)                                                                 \
	NFS_OPERATIONS_OTHER_PROGRAMS(X)                                                           \
	X(OTHER)

enum nfs_operation {
#define NFS_OPERATION_ENUM(name) NFS_OPERATION_##name,
	NFS_OPERATIONS(NFS_OPERATION_ENUM) NFS_OPERATION_COUNT
#undef NFS_OPERATION_ENUM
};

/** nfs_operation_of - Returns the operation of a Call, at any stage of its information. */
enum nfs_operation nfs_operation_of(const struct call_info *call_info);
/** nfs_operation_name - Returns the name, such as "READ"; "other" for an unknown program. */
const char *nfs_operation_name(enum nfs_operation operation);
/**
 * nfs_operation_find - Returns the operation of that name, ignoring case; NFS_OPERATION_COUNT if
 * none exists.
 */
enum nfs_operation nfs_operation_find(const char *name);

/**
 * nfs_operation_has_status - Returns whether the Reply's results begin with an NFS status, at
 * results_offset
 *
 * Under RPCSEC_GSS with integrity the status is NFS_INTEGRITY_HEAD_BYTES later. Returns false if
 * the results are encrypted.
 */
bool nfs_operation_has_status(const struct call_info *call_info);

/**
 * nfs_status_name - Returns the name of a status, such as "NOENT" for NFS3ERR_NOENT and
 * NFS4ERR_NOENT; NULL if it has none
 *
 * A number means the same in all versions. If the names differ, NFSv4's is returned: DELAY, not
 * JUKEBOX.
 */
const char *nfs_status_name(uint32_t status);

#define NFS_STATUS_TEXT_BYTES 40u
/**
 * nfs_status_full_name - Writes the name that the document of a protocol gives a status:
 * "NFS4ERR_ACCESS", "NFS3ERR_ACCES", "MNT3ERR_ACCES", "EACCES" for versions 1 and 2 of MOUNT
 * @prog, @vers: of the Call, which are NFS, its callbacks, NFSACL or MOUNT
 *
 * Returns @text, or NULL if the status or the program has no name.
 */
const char *nfs_status_full_name(uint32_t prog, uint32_t vers, uint32_t status,
				 char text[NFS_STATUS_TEXT_BYTES]);

#endif
