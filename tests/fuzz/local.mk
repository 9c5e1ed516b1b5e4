# Fuzz targets.
#
# Under --enable-fuzzing (CC=clang) each is a libFuzzer program; `make fuzz-programs` builds them and
# tests/fuzz/run.sh runs them. Otherwise each is linked with a main that replays its corpus, in `make check`.
#
# To add one called NAME:
#   - tests/fuzz/fuzz_NAME.c includes tests/fuzz/fuzz.h and defines LLVMFuzzerTestOneInput();
#   - tests/fuzz/corpus/NAME/ has a few small inputs, one form each and named after it;
#   - below, two lines:
#         FUZZ_TARGETS += tests/fuzz/fuzz_NAME
#         tests_fuzz_fuzz_NAME_LDADD = $(FUZZ_LDADD)
#     (and tests_fuzz_fuzz_NAME_SOURCES if it takes more than fuzz_NAME.c).
# An input that once was a finding stays in the corpus.
FUZZ_TARGETS =
if FUZZING
FUZZ_LDADD = $(FUZZ_LDFLAGS) $(UNIT_LDADD)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h
FUZZ_LDADD = tests/fuzz/libreplay.a $(UNIT_LDADD)
TESTS += $(FUZZ_TARGETS)
endif
check_PROGRAMS += $(FUZZ_TARGETS)
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/run.sh

FUZZ_TARGETS += tests/fuzz/fuzz_ccp
tests_fuzz_fuzz_ccp_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_header
tests_fuzz_fuzz_header_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_msg
tests_fuzz_fuzz_msg_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_optional
tests_fuzz_fuzz_optional_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_private_data
tests_fuzz_fuzz_private_data_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_proxy_header
tests_fuzz_fuzz_proxy_header_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_xdr
tests_fuzz_fuzz_xdr_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_record
tests_fuzz_fuzz_record_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_check_reply
tests_fuzz_fuzz_check_reply_LDADD = daemon/libdaemon.a $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_control
tests_fuzz_fuzz_control_LDADD = $(FUZZ_LDADD) daemon/libdaemon.a $(JANSSON_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_capture_tally
tests_fuzz_fuzz_capture_tally_LDADD = $(FUZZ_LDADD) daemon/ctl/libctl.a

FUZZ_TARGETS += tests/fuzz/fuzz_tap_request
tests_fuzz_fuzz_tap_request_LDADD = $(FUZZ_LDADD) daemon/libdaemon.a lib/nfs/libnfs-binding.a lib/rpc/librpc.a

FUZZ_TARGETS += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_LDADD = $(FUZZ_LDADD) daemon/libdaemon.a

FUZZ_TARGETS += tests/fuzz/fuzz_iwarp_mpa
tests_fuzz_fuzz_iwarp_mpa_LDADD = $(FUZZ_LDADD)

IWARP_STREAM = tests/fuzz/iwarp_stream.c tests/fuzz/iwarp_stream.h
FUZZ_TARGETS += tests/fuzz/fuzz_iwarp_initiator
tests_fuzz_fuzz_iwarp_initiator_SOURCES = tests/fuzz/fuzz_iwarp_initiator.c $(IWARP_STREAM)
tests_fuzz_fuzz_iwarp_initiator_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_iwarp_responder
tests_fuzz_fuzz_iwarp_responder_SOURCES = tests/fuzz/fuzz_iwarp_responder.c $(IWARP_STREAM)
tests_fuzz_fuzz_iwarp_responder_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_nfs_call
tests_fuzz_fuzz_nfs_call_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_nfs_pieces
tests_fuzz_fuzz_nfs_pieces_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_nfs_reply
tests_fuzz_fuzz_nfs_reply_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_nfs_type
tests_fuzz_fuzz_nfs_type_LDADD = $(FUZZ_LDADD)


FUZZ_TARGETS += tests/fuzz/fuzz_tcp_leg
tests_fuzz_fuzz_tcp_leg_LDADD = $(FUZZ_LDADD)
FUZZ_TARGETS += tests/fuzz/fuzz_msg_plan
tests_fuzz_fuzz_msg_plan_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_padding
tests_fuzz_fuzz_padding_LDADD = $(FUZZ_LDADD)

FUZZ_TARGETS += tests/fuzz/fuzz_rdma_leg
tests_fuzz_fuzz_rdma_leg_LDADD = tests/sim/librig.a tests/lib/libfakenfs.a $(FUZZ_LDADD)

fuzz-programs: $(FUZZ_TARGETS)
