# Calls and Replies of every procedure and operation, written down for the tests alone.
check_LIBRARIES += tests/nfs/librows.a
tests_nfs_librows_a_SOURCES = tests/nfs/compounds.c tests/nfs/compounds.h tests/nfs/corpus.c tests/nfs/corpus.h tests/nfs/look.c tests/nfs/look.h tests/nfs/msg.c tests/nfs/msg.h tests/nfs/pads.c tests/nfs/pads.h tests/nfs/rows.c tests/nfs/rows.h \
	tests/nfs/rows_side.c tests/nfs/rows_v3.c tests/nfs/rows_v4.c tests/nfs/spec.c tests/nfs/spec.h
tests_nfs_librows_a_CFLAGS = $(UNIT_CFLAGS)
NFS_LDADD = tests/nfs/librows.a $(UNIT_LDADD)

check_PROGRAMS += tests/nfs/test_ceiling
tests_nfs_test_ceiling_SOURCES = tests/nfs/test_ceiling.c
tests_nfs_test_ceiling_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_ceiling_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_ceiling

check_PROGRAMS += tests/nfs/test_rows
tests_nfs_test_rows_SOURCES = tests/nfs/test_rows.c
tests_nfs_test_rows_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_rows_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_rows

check_PROGRAMS += tests/nfs/test_attrs
tests_nfs_test_attrs_SOURCES = tests/nfs/test_attrs.c
tests_nfs_test_attrs_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_attrs_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_attrs

check_PROGRAMS += tests/nfs/test_payload
tests_nfs_test_payload_SOURCES = tests/nfs/test_payload.c
tests_nfs_test_payload_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_payload_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_payload

check_PROGRAMS += tests/nfs/test_session
tests_nfs_test_session_SOURCES = tests/nfs/test_session.c
tests_nfs_test_session_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_session_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_session

check_PROGRAMS += tests/nfs/test_hostile
tests_nfs_test_hostile_SOURCES = tests/nfs/test_hostile.c
tests_nfs_test_hostile_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_hostile_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_hostile

check_PROGRAMS += tests/nfs/test_compound
tests_nfs_test_compound_SOURCES = tests/nfs/test_compound.c
tests_nfs_test_compound_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_compound_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_compound

check_PROGRAMS += tests/nfs/test_corpus
tests_nfs_test_corpus_SOURCES = tests/nfs/test_corpus.c
tests_nfs_test_corpus_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_corpus_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_corpus

check_PROGRAMS += tests/nfs/test_operation
tests_nfs_test_operation_SOURCES = tests/nfs/test_operation.c
tests_nfs_test_operation_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_operation_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_operation

check_PROGRAMS += tests/nfs/test_opaques
tests_nfs_test_opaques_SOURCES = tests/nfs/test_opaques.c
tests_nfs_test_opaques_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_opaques_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_opaques

check_PROGRAMS += tests/nfs/test_padding
tests_nfs_test_padding_SOURCES = tests/nfs/test_padding.c
tests_nfs_test_padding_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_padding_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_padding

check_PROGRAMS += tests/nfs/test_facts
tests_nfs_test_facts_SOURCES = tests/nfs/test_facts.c
tests_nfs_test_facts_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_facts_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_facts

check_PROGRAMS += tests/nfs/test_walk
tests_nfs_test_walk_SOURCES = tests/nfs/test_walk.c
tests_nfs_test_walk_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_test_walk_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/test_walk

check_PROGRAMS += tests/nfs/write_pcap
tests_nfs_write_pcap_SOURCES = tests/nfs/write_pcap.c
tests_nfs_write_pcap_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_write_pcap_LDADD = $(NFS_LDADD)
TESTS += tests/nfs/second_opinion.sh
EXTRA_DIST += tests/nfs/second_opinion.sh

check_PROGRAMS += tests/nfs/write_rebuilt
tests_nfs_write_rebuilt_SOURCES = tests/nfs/write_rebuilt.c
tests_nfs_write_rebuilt_CFLAGS = $(UNIT_CFLAGS)
tests_nfs_write_rebuilt_LDADD = tests/nfs/librows.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/nfs/rebuilt_tshark.sh
EXTRA_DIST += tests/nfs/rebuilt_tshark.sh
