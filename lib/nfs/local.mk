noinst_LIBRARIES += lib/nfs/libnfs-binding.a
lib_nfs_libnfs_binding_a_SOURCES = \
	lib/nfs/ceiling.c \
	lib/nfs/ceiling.h \
	lib/nfs/compound.c \
	lib/nfs/compound.h \
	lib/nfs/facts.c \
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
	lib/nfs/opaques.c \
	lib/nfs/opaques.h \
	lib/nfs/operation.c \
	lib/nfs/operation.h \
	lib/nfs/payload.c \
	lib/nfs/rpcbind.c \
	lib/nfs/session.c \
	lib/nfs/table.c \
	lib/nfs/table.h \
	lib/nfs/type.c \
	lib/nfs/type.h
lib_nfs_libnfs_binding_a_CFLAGS = $(PROJECT_CFLAGS)
