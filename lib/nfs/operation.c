// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/operation.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "nfs/proc_table.h"

#define COUNT_ONE(name) +1
enum { RANKED_COUNT = 0 NFS_OPERATIONS_RANKED(COUNT_ONE) };

_Static_assert(NFS_OPERATION_COUNT <= UINT8_MAX, "the tables store bytes");

static const char *const names[] = {
#define NFS_OPERATION_NAME(name) [NFS_OPERATION_##name] = #name,
	NFS_OPERATIONS(NFS_OPERATION_NAME)};

/*
 * Indexed by number. Zero is the highest-ranked operation, which no table has at an unused number.
 */
static const uint8_t v4_ops[] = {
	[3] = NFS_OPERATION_ACCESS,
	[4] = NFS_OPERATION_CLOSE,
	[5] = NFS_OPERATION_COMMIT,
	[6] = NFS_OPERATION_CREATE,
	[7] = NFS_OPERATION_DELEGPURGE,
	[8] = NFS_OPERATION_DELEGRETURN,
	[9] = NFS_OPERATION_GETATTR,
	[10] = NFS_OPERATION_GETFH,
	[11] = NFS_OPERATION_LINK,
	[12] = NFS_OPERATION_LOCK,
	[13] = NFS_OPERATION_LOCKT,
	[14] = NFS_OPERATION_LOCKU,
	[15] = NFS_OPERATION_LOOKUP,
	[16] = NFS_OPERATION_LOOKUPP,
	[17] = NFS_OPERATION_NVERIFY,
	[18] = NFS_OPERATION_OPEN,
	[19] = NFS_OPERATION_OPENATTR,
	[20] = NFS_OPERATION_OPEN_CONFIRM,
	[21] = NFS_OPERATION_OPEN_DOWNGRADE,
	[22] = NFS_OPERATION_PUTFH,
	[23] = NFS_OPERATION_PUTPUBFH,
	[24] = NFS_OPERATION_PUTROOTFH,
	[25] = NFS_OPERATION_READ,
	[26] = NFS_OPERATION_READDIR,
	[27] = NFS_OPERATION_READLINK,
	[28] = NFS_OPERATION_REMOVE,
	[29] = NFS_OPERATION_RENAME,
	[30] = NFS_OPERATION_RENEW,
	[31] = NFS_OPERATION_RESTOREFH,
	[32] = NFS_OPERATION_SAVEFH,
	[33] = NFS_OPERATION_SECINFO,
	[34] = NFS_OPERATION_SETATTR,
	[35] = NFS_OPERATION_SETCLIENTID,
	[36] = NFS_OPERATION_SETCLIENTID_CONFIRM,
	[37] = NFS_OPERATION_VERIFY,
	[38] = NFS_OPERATION_WRITE,
	[39] = NFS_OPERATION_RELEASE_LOCKOWNER,
	[40] = NFS_OPERATION_BACKCHANNEL_CTL,
	[41] = NFS_OPERATION_BIND_CONN_TO_SESSION,
	[42] = NFS_OPERATION_EXCHANGE_ID,
	[43] = NFS_OPERATION_CREATE_SESSION,
	[44] = NFS_OPERATION_DESTROY_SESSION,
	[45] = NFS_OPERATION_FREE_STATEID,
	[46] = NFS_OPERATION_GET_DIR_DELEGATION,
	[47] = NFS_OPERATION_GETDEVICEINFO,
	[48] = NFS_OPERATION_GETDEVICELIST,
	[49] = NFS_OPERATION_LAYOUTCOMMIT,
	[50] = NFS_OPERATION_LAYOUTGET,
	[51] = NFS_OPERATION_LAYOUTRETURN,
	[52] = NFS_OPERATION_SECINFO_NO_NAME,
	[53] = NFS_OPERATION_SEQUENCE,
	[54] = NFS_OPERATION_SET_SSV,
	[55] = NFS_OPERATION_TEST_STATEID,
	[56] = NFS_OPERATION_WANT_DELEGATION,
	[57] = NFS_OPERATION_DESTROY_CLIENTID,
	[58] = NFS_OPERATION_RECLAIM_COMPLETE,
	[59] = NFS_OPERATION_ALLOCATE,
	[60] = NFS_OPERATION_COPY,
	[61] = NFS_OPERATION_COPY_NOTIFY,
	[62] = NFS_OPERATION_DEALLOCATE,
	[63] = NFS_OPERATION_IO_ADVISE,
	[64] = NFS_OPERATION_LAYOUTERROR,
	[65] = NFS_OPERATION_LAYOUTSTATS,
	[66] = NFS_OPERATION_OFFLOAD_CANCEL,
	[67] = NFS_OPERATION_OFFLOAD_STATUS,
	[68] = NFS_OPERATION_READ_PLUS,
	[69] = NFS_OPERATION_SEEK,
	[70] = NFS_OPERATION_WRITE_SAME,
	[71] = NFS_OPERATION_CLONE,
	[72] = NFS_OPERATION_GETXATTR,
	[73] = NFS_OPERATION_SETXATTR,
	[74] = NFS_OPERATION_LISTXATTRS,
	[75] = NFS_OPERATION_REMOVEXATTR,
};

static const uint8_t v4_cb_ops[] = {
	[3] = NFS_OPERATION_CB_GETATTR,
	[4] = NFS_OPERATION_CB_RECALL,
	[5] = NFS_OPERATION_CB_LAYOUTRECALL,
	[6] = NFS_OPERATION_CB_NOTIFY,
	[7] = NFS_OPERATION_CB_PUSH_DELEG,
	[8] = NFS_OPERATION_CB_RECALL_ANY,
	[9] = NFS_OPERATION_CB_RECALLABLE_OBJ_AVAIL,
	[10] = NFS_OPERATION_CB_RECALL_SLOT,
	[11] = NFS_OPERATION_CB_SEQUENCE,
	[12] = NFS_OPERATION_CB_WANTS_CANCELLED,
	[13] = NFS_OPERATION_CB_NOTIFY_LOCK,
	[14] = NFS_OPERATION_CB_NOTIFY_DEVICEID,
	[15] = NFS_OPERATION_CB_OFFLOAD,
};

static const uint8_t v3_procs[] = {
	[0] = NFS_OPERATION_NULL,    [1] = NFS_OPERATION_GETATTR,  [2] = NFS_OPERATION_SETATTR,
	[3] = NFS_OPERATION_LOOKUP,  [4] = NFS_OPERATION_ACCESS,   [5] = NFS_OPERATION_READLINK,
	[6] = NFS_OPERATION_READ,    [7] = NFS_OPERATION_WRITE,    [8] = NFS_OPERATION_CREATE,
	[9] = NFS_OPERATION_MKDIR,   [10] = NFS_OPERATION_SYMLINK, [11] = NFS_OPERATION_MKNOD,
	[12] = NFS_OPERATION_REMOVE, [13] = NFS_OPERATION_RMDIR,   [14] = NFS_OPERATION_RENAME,
	[15] = NFS_OPERATION_LINK,   [16] = NFS_OPERATION_READDIR, [17] = NFS_OPERATION_READDIRPLUS,
	[18] = NFS_OPERATION_FSSTAT, [19] = NFS_OPERATION_FSINFO,  [20] = NFS_OPERATION_PATHCONF,
	[21] = NFS_OPERATION_COMMIT,
};

static const uint8_t v2_procs[] = {
	[0] = NFS_OPERATION_NULL,   [1] = NFS_OPERATION_GETATTR,    [2] = NFS_OPERATION_SETATTR,
	[3] = NFS_OPERATION_ROOT,   [4] = NFS_OPERATION_LOOKUP,     [5] = NFS_OPERATION_READLINK,
	[6] = NFS_OPERATION_READ,   [7] = NFS_OPERATION_WRITECACHE, [8] = NFS_OPERATION_WRITE,
	[9] = NFS_OPERATION_CREATE, [10] = NFS_OPERATION_REMOVE,    [11] = NFS_OPERATION_RENAME,
	[12] = NFS_OPERATION_LINK,  [13] = NFS_OPERATION_SYMLINK,   [14] = NFS_OPERATION_MKDIR,
	[15] = NFS_OPERATION_RMDIR, [16] = NFS_OPERATION_READDIR,   [17] = NFS_OPERATION_STATFS,
};

static const uint8_t mount_procs[] = {
	[0] = NFS_OPERATION_NULL,
	[1] = NFS_OPERATION_MOUNT_MNT,
	[2] = NFS_OPERATION_MOUNT_DUMP,
	[3] = NFS_OPERATION_MOUNT_UMNT,
	[4] = NFS_OPERATION_MOUNT_UMNTALL,
	[5] = NFS_OPERATION_MOUNT_EXPORT,
	[6] = NFS_OPERATION_MOUNT_EXPORTALL,
	[7] = NFS_OPERATION_MOUNT_PATHCONF,
};

static const uint8_t acl_procs[] = {
	[0] = NFS_OPERATION_NULL,          [1] = NFS_OPERATION_NFSACL_GETACL,
	[2] = NFS_OPERATION_NFSACL_SETACL, [3] = NFS_OPERATION_NFSACL_GETATTR,
	[4] = NFS_OPERATION_NFSACL_ACCESS, [5] = NFS_OPERATION_NFSACL_GETXATTRDIR,
};

/* NFSACL version 3 has no GETATTR and ACCESS: its procedure 3 is GETXATTRDIR. */
static enum nfs_operation of_acl(const struct rpc_call_hdr *hdr)
{
	if (hdr->vers == 3 && hdr->proc == 3)
		return NFS_OPERATION_NFSACL_GETXATTRDIR;
	return acl_procs[hdr->proc];
}

/* The tables have as many entries as the procedure tables, which have a row for @hdr. */
static enum nfs_operation of_nfs(const struct rpc_call_hdr *hdr)
{
	if (hdr->vers == 3)
		return v3_procs[hdr->proc];
	return hdr->vers == 4 ? NFS_OPERATION_NULL : v2_procs[hdr->proc];
}

static enum nfs_operation of_other_program(const struct rpc_call_hdr *hdr)
{
	switch (hdr->prog) {
	case NFS_PROGRAM_MOUNT:
		return mount_procs[hdr->proc];
	case NFS_PROGRAM_NFSACL:
		return of_acl(hdr);
	case NFS_PROGRAM_CALLBACK:
		return NFS_OPERATION_CB_NULL;
	case NFS_PROGRAM_NLM:
		return hdr->proc ? NFS_OPERATION_NLM : NFS_OPERATION_NULL;
	case NFS_PROGRAM_NSM:
		return hdr->proc ? NFS_OPERATION_NSM : NFS_OPERATION_NULL;
	case NFS_PROGRAM_RPCBIND:
		return hdr->proc ? NFS_OPERATION_RPCBIND : NFS_OPERATION_NULL;
	default:
		return NFS_OPERATION_OTHER;
	}
}

/* Every listed number is an operation of its minor version. */
static enum nfs_operation of_op(uint8_t op)
{
	return op == CALL_OP_ILLEGAL ? NFS_OPERATION_ILLEGAL : v4_ops[op];
}

static enum nfs_operation of_compound(const struct call_info *call_info)
{
	unsigned n = call_info->nops < CALL_LISTED_OPS ? call_info->nops : CALL_LISTED_OPS;
	enum nfs_operation foremost = NFS_OPERATION_COMPOUND, op = NFS_OPERATION_COMPOUND;

	for (unsigned i = 0; i < n; i++) {
		op = of_op(call_info->ops[i]);
		if (op < foremost)
			foremost = op;
	}
	return (unsigned)foremost < RANKED_COUNT ? foremost : op;
}

/* CB_SEQUENCE is followed by the actual operation, usually only one. */
static enum nfs_operation of_callback(const struct call_info *call_info)
{
	uint8_t op;

	if (!call_info->nops || call_info->nops > CALL_LISTED_OPS)
		return NFS_OPERATION_CB_COMPOUND;
	op = call_info->ops[call_info->nops - 1];
	return op == CALL_OP_ILLEGAL ? NFS_OPERATION_ILLEGAL : v4_cb_ops[op];
}

enum nfs_operation nfs_operation_of(const struct call_info *call_info)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;

	if (call_info->compound)
		return hdr->prog == NFS_PROGRAM_CALLBACK ? of_callback(call_info)
							 : of_compound(call_info);
	if (!call_info->procedure)
		return NFS_OPERATION_OTHER;
	return hdr->prog == NFS_PROGRAM_NFS ? of_nfs(hdr) : of_other_program(hdr);
}

const char *nfs_operation_name(enum nfs_operation operation)
{
	return operation == NFS_OPERATION_OTHER ? "other" : names[operation];
}

enum nfs_operation nfs_operation_find(const char *name)
{
	enum nfs_operation operation = 0;

	while (operation < NFS_OPERATION_COUNT && strcasecmp(names[operation], name))
		operation++;
	return operation;
}

bool nfs_operation_has_status(const struct call_info *call_info)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;

	if (call_info->body > CALL_BODY_INTEGRITY || !call_info->procedure || !hdr->proc)
		return false;
	return hdr->prog == NFS_PROGRAM_NFS || hdr->prog == NFS_PROGRAM_CALLBACK ||
	       hdr->prog == NFS_PROGRAM_NFSACL ||
	       (hdr->prog == NFS_PROGRAM_MOUNT && hdr->proc == 1);
}

/* RFC 1813 section 2.6, RFC 8881 section 15.1, RFC 7862 section 11, RFC 8276 section 8.6. */
static const struct {
	uint32_t status;
	const char *name;
} statuses[] = {
	{1, "PERM"},
	{2, "NOENT"},
	{5, "IO"},
	{6, "NXIO"},
	{13, "ACCES"},
	{17, "EXIST"},
	{18, "XDEV"},
	{19, "NODEV"},
	{20, "NOTDIR"},
	{21, "ISDIR"},
	{22, "INVAL"},
	{27, "FBIG"},
	{28, "NOSPC"},
	{30, "ROFS"},
	{31, "MLINK"},
	{63, "NAMETOOLONG"},
	{66, "NOTEMPTY"},
	{69, "DQUOT"},
	{70, "STALE"},
	{71, "REMOTE"},
	{99, "WFLUSH"},
	{10001, "BADHANDLE"},
	{10002, "NOT_SYNC"},
	{10003, "BAD_COOKIE"},
	{10004, "NOTSUPP"},
	{10005, "TOOSMALL"},
	{10006, "SERVERFAULT"},
	{10007, "BADTYPE"},
	{10008, "DELAY"},
	{10009, "SAME"},
	{10010, "DENIED"},
	{10011, "EXPIRED"},
	{10012, "LOCKED"},
	{10013, "GRACE"},
	{10014, "FHEXPIRED"},
	{10015, "SHARE_DENIED"},
	{10016, "WRONGSEC"},
	{10017, "CLID_INUSE"},
	{10018, "RESOURCE"},
	{10019, "MOVED"},
	{10020, "NOFILEHANDLE"},
	{10021, "MINOR_VERS_MISMATCH"},
	{10022, "STALE_CLIENTID"},
	{10023, "STALE_STATEID"},
	{10024, "OLD_STATEID"},
	{10025, "BAD_STATEID"},
	{10026, "BAD_SEQID"},
	{10027, "NOT_SAME"},
	{10028, "LOCK_RANGE"},
	{10029, "SYMLINK"},
	{10030, "RESTOREFH"},
	{10031, "LEASE_MOVED"},
	{10032, "ATTRNOTSUPP"},
	{10033, "NO_GRACE"},
	{10034, "RECLAIM_BAD"},
	{10035, "RECLAIM_CONFLICT"},
	{10036, "BADXDR"},
	{10037, "LOCKS_HELD"},
	{10038, "OPENMODE"},
	{10039, "BADOWNER"},
	{10040, "BADCHAR"},
	{10041, "BADNAME"},
	{10042, "BAD_RANGE"},
	{10043, "LOCK_NOTSUPP"},
	{10044, "OP_ILLEGAL"},
	{10045, "DEADLOCK"},
	{10046, "FILE_OPEN"},
	{10047, "ADMIN_REVOKED"},
	{10048, "CB_PATH_DOWN"},
	{10049, "BADIOMODE"},
	{10050, "BADLAYOUT"},
	{10051, "BAD_SESSION_DIGEST"},
	{10052, "BADSESSION"},
	{10053, "BADSLOT"},
	{10054, "COMPLETE_ALREADY"},
	{10055, "CONN_NOT_BOUND_TO_SESSION"},
	{10056, "DELEG_ALREADY_WANTED"},
	{10057, "BACK_CHAN_BUSY"},
	{10058, "LAYOUTTRYLATER"},
	{10059, "LAYOUTUNAVAILABLE"},
	{10060, "NOMATCHING_LAYOUT"},
	{10061, "RECALLCONFLICT"},
	{10062, "UNKNOWN_LAYOUTTYPE"},
	{10063, "SEQ_MISORDERED"},
	{10064, "SEQUENCE_POS"},
	{10065, "REQ_TOO_BIG"},
	{10066, "REP_TOO_BIG"},
	{10067, "REP_TOO_BIG_TO_CACHE"},
	{10068, "RETRY_UNCACHED_REP"},
	{10069, "UNSAFE_COMPOUND"},
	{10070, "TOO_MANY_OPS"},
	{10071, "OP_NOT_IN_SESSION"},
	{10072, "HASH_ALG_UNSUPP"},
	{10074, "CLIENTID_BUSY"},
	{10075, "PNFS_IO_HOLE"},
	{10076, "SEQ_FALSE_RETRY"},
	{10077, "BAD_HIGH_SLOT"},
	{10078, "DEADSESSION"},
	{10079, "ENCR_ALG_UNSUPP"},
	{10080, "PNFS_NO_LAYOUT"},
	{10081, "NOT_ONLY_OP"},
	{10082, "WRONG_CRED"},
	{10083, "WRONG_TYPE"},
	{10084, "DIRDELEG_UNAVAIL"},
	{10085, "REJECT_DELEG"},
	{10086, "RETURNCONFLICT"},
	{10087, "DELEG_REVOKED"},
	{10088, "PARTNER_NOTSUPP"},
	{10089, "PARTNER_NO_AUTH"},
	{10090, "UNION_NOTSUPP"},
	{10091, "OFFLOAD_DENIED"},
	{10092, "WRONG_LFS"},
	{10093, "BADLABEL"},
	{10094, "OFFLOAD_NO_REQS"},
	{10095, "NOXATTR"},
	{10096, "XATTR2BIG"},
};

const char *nfs_status_name(uint32_t status)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return NULL;
}

/* Returns what the names of statuses begin with in a version of a program, or NULL. */
static const char *status_prefix(uint32_t prog, uint32_t vers)
{
	static const char *const of_nfs[] = {[2] = "NFSERR_", [3] = "NFS3ERR_", [4] = "NFS4ERR_"};

	if (prog == NFS_PROGRAM_CALLBACK)
		return "NFS4ERR_";
	if (prog == NFS_PROGRAM_MOUNT)
		return vers == 3 ? "MNT3ERR_" : "E";
	if (prog != NFS_PROGRAM_NFS && prog != NFS_PROGRAM_NFSACL)
		return NULL;
	return vers < ARRAY_SIZE(of_nfs) ? of_nfs[vers] : NULL;
}

const char *nfs_status_full_name(uint32_t prog, uint32_t vers, uint32_t status,
				 char text[NFS_STATUS_TEXT_BYTES])
{
	const char *prefix = status_prefix(prog, vers), *name = nfs_status_name(status);

	if (!prefix || !name)
		return NULL;
	if (status == 13 && !strcmp(prefix, "NFS4ERR_"))
		name = "ACCESS";
	else if (status == 10008 && !strcmp(prefix, "NFS3ERR_"))
		name = "JUKEBOX";
	snprintf(text, NFS_STATUS_TEXT_BYTES, "%s%s", prefix, name);
	return text;
}
