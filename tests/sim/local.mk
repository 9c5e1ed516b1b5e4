# Scenarios over the sim fabric. Each program is one file, tests/sim/NAME.c, and links what it needs of LDADD.
bridge_tests = \
	tests/sim/test_bridge \
	tests/sim/test_bridge_half_closed \
	tests/sim/test_bridge_server \
	tests/sim/test_chain \
	tests/sim/test_check_conn \
	tests/sim/test_crowd \
	tests/sim/test_large \
	tests/sim/test_legs \
	tests/sim/test_lines \
	tests/sim/test_nfs \
	tests/sim/test_padding \
	tests/sim/test_pairings \
	tests/sim/test_responder_chunks \
	tests/sim/test_returning_client \
	tests/sim/test_reverse_sizes \
	tests/sim/test_bridge_route \
	tests/sim/test_call_stages \
	tests/sim/test_bridge_limits \
	tests/sim/test_bridge_tls \
	tests/sim/test_storm \
	tests/sim/test_tap_attach \
	tests/sim/test_upstream \
	tests/sim/test_upstream_servers \
	tests/sim/test_upstream_sources \
	tests/sim/test_upstream_versions \
	tests/sim/test_v2_chain

# Single legs, with the binding of tests/lib/fake_nfs.h; then those with peers, by what they are: they have the same names.
leg_fixture = tests/sim/librig.a tests/lib/libfakenfs.a
leg_tests = \
	tests/sim/test_bare \
	tests/sim/test_drain \
	tests/sim/test_faults \
	tests/sim/test_limits \
	tests/sim/test_pair \
	tests/sim/test_reverse \
	tests/sim/test_reverse_late \
	tests/sim/test_sim \
	tests/sim/test_source_port \
	tests/sim/test_thresholds
$(leg_tests): FIXTURE = $(leg_fixture)
$(leg_tests): $(leg_fixture)

server_peer_tests = \
	tests/sim/test_conf_client \
	tests/sim/test_peer \
	tests/sim/test_peer_long_calls \
	tests/sim/test_peer_replies \
	tests/sim/test_requester \
	tests/sim/test_requester_claims \
	tests/sim/test_requester_ddp \
	tests/sim/test_requester_read_reply \
	tests/sim/test_requester_read_reply_ends \
	tests/sim/test_requester_reply \
	tests/sim/test_zero_grant_timeout \
	tests/sim/test_rdma_keepalive
$(server_peer_tests): FIXTURE = tests/sim/libserverpeer.a $(leg_fixture)
$(server_peer_tests): tests/sim/libserverpeer.a $(leg_fixture)

client_peer_tests = \
	tests/sim/test_conf_server \
	tests/sim/test_responder \
	tests/sim/test_responder_flow \
	tests/sim/test_responder_read_reply \
	tests/sim/test_responder_read_reply_ends \
	tests/sim/test_responder_reply
$(client_peer_tests): FIXTURE = tests/sim/libclientpeer.a $(leg_fixture)
$(client_peer_tests): tests/sim/libclientpeer.a $(leg_fixture)

pieces_tests = \
	tests/sim/test_requester_pieces \
	tests/sim/test_requester_pieces_ddp \
	tests/sim/test_responder_call_parts \
	tests/sim/test_responder_parts \
	tests/sim/test_responder_pieces
$(pieces_tests): FIXTURE = tests/sim/libpieces.a $(leg_fixture)
$(pieces_tests): tests/sim/libpieces.a $(leg_fixture)

v2_tests = \
	tests/sim/test_bad_replies \
	tests/sim/test_conf_versions \
	tests/sim/test_v2_asked \
	tests/sim/test_v2_drafts \
	tests/sim/test_v2_faults \
	tests/sim/test_v2_hostile \
	tests/sim/test_v2_idle \
	tests/sim/test_v2_invalidate \
	tests/sim/test_v2_memory \
	tests/sim/test_v2_requests \
	tests/sim/test_v2_sizes \
	tests/sim/test_v2_versions
$(v2_tests): FIXTURE = tests/sim/libv2rig.a $(leg_fixture)
$(v2_tests): tests/sim/libv2rig.a $(leg_fixture)

sim_tests = $(bridge_tests) $(leg_tests) $(server_peer_tests) $(client_peer_tests) $(pieces_tests) $(v2_tests)
TESTS += $(sim_tests)
check_PROGRAMS += $(sim_tests)

# Rigs of one leg, bridges and whole chains of them.
check_LIBRARIES += tests/sim/librig.a tests/sim/libserverpeer.a tests/sim/libclientpeer.a tests/sim/libpieces.a tests/sim/libv2rig.a
tests_sim_librig_a_SOURCES = \
	tests/sim/bare.c tests/sim/bare.h \
	tests/sim/bridge_bench.c tests/sim/bridge_bench.h \
	tests/sim/chain.c tests/sim/chain.h \
	tests/sim/chain_end.c tests/sim/chain_end.h \
	tests/sim/limits_bench.c tests/sim/limits_bench.h \
	tests/sim/raw.c tests/sim/raw.h \
	tests/sim/record_end.c tests/sim/record_end.h \
	tests/sim/rig.c tests/sim/rig.h \
	tests/sim/stub_leg.c tests/sim/stub_leg.h
tests_sim_libserverpeer_a_SOURCES = \
	tests/sim/quirk_peer.c tests/sim/quirk_peer.h \
	tests/sim/read_reply_peer.c tests/sim/read_reply_peer.h \
	tests/sim/server_peer.c tests/sim/server_peer.h
tests_sim_libclientpeer_a_SOURCES = tests/sim/client_peer.c tests/sim/client_peer.h tests/sim/read_reply_client.c tests/sim/read_reply_client.h
tests_sim_libpieces_a_SOURCES = tests/sim/pieces.c tests/sim/pieces.h
tests_sim_libv2rig_a_SOURCES = tests/sim/v2_peer.c tests/sim/v2_peer.h

tests_sim_test_storm_SOURCES = tests/sim/test_storm.c tests/sim/storm.h tests/sim/storm_client.c tests/sim/storm_server.c \
	tests/sim/storm_balance.c tests/sim/storm_balance.h tests/sim/storm_counts.c tests/sim/storm_counts.h \
	tests/sim/storm_faults.c tests/sim/storm_gone.c tests/sim/storm_spoil.c tests/sim/storm_spoil.h tests/sim/storm_plan.c tests/sim/storm_plan.h \
	tests/sim/storm_rpc.c tests/sim/storm_rpc.h
