NFS_MSG = tests/nfs/msg.c tests/nfs/msg.h

check_PROGRAMS += tests/nfs/test_ceiling
tests_nfs_test_ceiling_SOURCES = tests/nfs/test_ceiling.c $(NFS_MSG)
tests_nfs_test_ceiling_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_ceiling_LDADD = $(UNIT_LDADD)
TESTS += tests/nfs/test_ceiling
