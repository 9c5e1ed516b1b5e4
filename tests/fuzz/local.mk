# Fuzz targets.
#
# Under --enable-fuzzing (CC=clang) each is a libFuzzer program; `make fuzz-programs` builds them and
# tests/fuzz/run.sh runs them. Otherwise each is linked with a main that replays its corpus, in `make check`.
#
# To add one called NAME:
#   - tests/fuzz/fuzz_NAME.c includes tests/fuzz/fuzz.h and defines LLVMFuzzerTestOneInput();
#   - tests/fuzz/corpus/NAME/ has a few small inputs, one form each and named after it;
#   - below, a line.
# An input that once was a finding stays in the corpus.
FUZZ_TARGETS = \
	tests/fuzz/fuzz_capture_tally \
	tests/fuzz/fuzz_ccp \
	tests/fuzz/fuzz_check_reply \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_control \
	tests/fuzz/fuzz_header \
	tests/fuzz/fuzz_iwarp_initiator \
	tests/fuzz/fuzz_iwarp_mpa \
	tests/fuzz/fuzz_iwarp_responder \
	tests/fuzz/fuzz_msg \
	tests/fuzz/fuzz_msg_plan \
	tests/fuzz/fuzz_nfs_call \
	tests/fuzz/fuzz_nfs_pieces \
	tests/fuzz/fuzz_nfs_reply \
	tests/fuzz/fuzz_nfs_type \
	tests/fuzz/fuzz_optional \
	tests/fuzz/fuzz_padding \
	tests/fuzz/fuzz_private_data \
	tests/fuzz/fuzz_proxy_header \
	tests/fuzz/fuzz_rdma_leg \
	tests/fuzz/fuzz_record \
	tests/fuzz/fuzz_tap_request \
	tests/fuzz/fuzz_tcp_leg \
	tests/fuzz/fuzz_tcp_tls \
	tests/fuzz/fuzz_tls \
	tests/fuzz/fuzz_xdr
tests_fuzz_fuzz_rdma_leg_LDADD = tests/sim/librig.a tests/lib/libfakenfs.a $(LDADD)
check_PROGRAMS += $(FUZZ_TARGETS)
check_LIBRARIES += tests/fuzz/libfuzz.a
tests_fuzz_libfuzz_a_SOURCES = tests/fuzz/fuzz.h tests/fuzz/iwarp_stream.c tests/fuzz/iwarp_stream.h
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/run.sh

if FUZZING
# To these alone: the fuzzer has a main(), which would meet that of a test.
$(FUZZ_TARGETS): LIBS += $(FUZZ_LDFLAGS)
else
tests_fuzz_libfuzz_a_SOURCES += tests/fuzz/replay.c
TESTS += $(FUZZ_TARGETS)
endif

fuzz-programs: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) $(FUZZ_TARGETS)
