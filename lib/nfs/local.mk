noinst_LIBRARIES += lib/nfs/libnfs-binding.a
lib_nfs_libnfs_binding_a_SOURCES = \
	lib/nfs/ceiling.c \
	lib/nfs/mount.c \
	lib/nfs/nfs.h \
	lib/nfs/nfs3.c \
	lib/nfs/nfs3_types.h \
	lib/nfs/table.c \
	lib/nfs/table.h \
	lib/nfs/type.c \
	lib/nfs/type.h
