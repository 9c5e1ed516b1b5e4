noinst_LIBRARIES += lib/nfs/libnfs-binding.a
lib_nfs_libnfs_binding_a_SOURCES = \
	lib/nfs/nfs.c \
	lib/nfs/nfs.h
