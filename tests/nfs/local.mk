# Calls and Replies of every procedure and operation, written down for the tests alone.
check_LIBRARIES += tests/nfs/librows.a
tests_nfs_librows_a_SOURCES = \
	tests/nfs/compounds.c \
	tests/nfs/compounds.h \
	tests/nfs/corpus.c \
	tests/nfs/corpus.h \
	tests/nfs/look.c \
	tests/nfs/look.h \
	tests/nfs/msg.c \
	tests/nfs/msg.h \
	tests/nfs/pads.c \
	tests/nfs/pads.h \
	tests/nfs/rows.c \
	tests/nfs/rows.h \
	tests/nfs/rows_side.c \
	tests/nfs/rows_v3.c \
	tests/nfs/rows_v4.c \
	tests/nfs/spec.c \
	tests/nfs/spec.h

nfs_tests = \
	tests/nfs/test_attrs \
	tests/nfs/test_reply_size \
	tests/nfs/test_compound \
	tests/nfs/test_corpus \
	tests/nfs/test_call_info \
	tests/nfs/test_hostile \
	tests/nfs/test_opaque_walk \
	tests/nfs/test_operation \
	tests/nfs/test_padding \
	tests/nfs/test_ddp_items \
	tests/nfs/test_rows \
	tests/nfs/test_session \
	tests/nfs/test_walk
nfs_scripts = tests/nfs/rebuilt_tshark.sh tests/nfs/second_opinion.sh
TESTS += $(nfs_tests) $(nfs_scripts)
EXTRA_DIST += $(nfs_scripts)
check_PROGRAMS += $(nfs_tests) tests/nfs/write_pcap tests/nfs/write_rebuilt
