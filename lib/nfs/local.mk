noinst_LIBRARIES += lib/nfs/libnfs-binding.a
lib_nfs_libnfs_binding_a_SOURCES = \
	lib/nfs/reply_size.c \
	lib/nfs/reply_size.h \
	lib/nfs/compound.c \
	lib/nfs/compound.h \
	lib/nfs/call_walk.c \
	lib/nfs/mount.c \
	lib/nfs/nfs.h \
	lib/nfs/nfs2.c \
	lib/nfs/nfs2_types.h \
	lib/nfs/nfs3.c \
	lib/nfs/nfs3_types.h \
	lib/nfs/nfs40.c \
	lib/nfs/nfs41.c \
	lib/nfs/nfs42.c \
	lib/nfs/nfs4_cb.c \
	lib/nfs/nfs4_types.c \
	lib/nfs/nfs4_types.h \
	lib/nfs/nfsacl.c \
	lib/nfs/nlm.c \
	lib/nfs/nsm.c \
	lib/nfs/opaque_walk.c \
	lib/nfs/opaque_walk.h \
	lib/nfs/operation.c \
	lib/nfs/operation.h \
	lib/nfs/ddp_items.c \
	lib/nfs/rpcbind_program.c \
	lib/nfs/session.c \
	lib/nfs/proc_table.c \
	lib/nfs/proc_table.h \
	lib/nfs/xdr_type.c \
	lib/nfs/xdr_type.h
lib_nfs_libnfs_binding_a_CFLAGS = $(PROJECT_CFLAGS)
