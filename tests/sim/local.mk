# Scenarios over the sim fabric.
check_LIBRARIES += tests/sim/librig.a
tests_sim_librig_a_SOURCES = \
	tests/sim/raw.c \
	tests/sim/raw.h \
	tests/sim/rig.c \
	tests/sim/rig.h
tests_sim_librig_a_CFLAGS = $(UNIT_CFLAGS)
# Peers of one leg, by what it is: they have the same names.
check_LIBRARIES += tests/sim/libserverpeer.a tests/sim/libclientpeer.a tests/sim/libv2rig.a
tests_sim_libserverpeer_a_SOURCES = tests/sim/server_peer.c tests/sim/server_peer.h tests/sim/lent_peer.c tests/sim/lent_peer.h
tests_sim_libserverpeer_a_CFLAGS = $(UNIT_CFLAGS)
tests_sim_libclientpeer_a_SOURCES = tests/sim/client_peer.c tests/sim/client_peer.h tests/sim/lent_client.c tests/sim/lent_client.h
tests_sim_libclientpeer_a_CFLAGS = $(UNIT_CFLAGS)
tests_sim_libv2rig_a_SOURCES = tests/sim/v2_peer.c tests/sim/v2_peer.h
tests_sim_libv2rig_a_CFLAGS = $(UNIT_CFLAGS)
SIM_LDADD = tests/sim/librig.a tests/lib/libfakenfs.a $(UNIT_LDADD)

# Bridges, and whole chains of them, stand on the daemon's library.
check_LIBRARIES += tests/sim/libbench.a
tests_sim_libbench_a_SOURCES = tests/sim/bridge_bench.c tests/sim/bridge_bench.h tests/sim/chain.c tests/sim/chain.h \
	tests/sim/chain_end.c tests/sim/chain_end.h tests/sim/record_end.c tests/sim/record_end.h \
	tests/sim/stub_leg.c tests/sim/stub_leg.h
tests_sim_libbench_a_CFLAGS = $(UNIT_CFLAGS)
BENCH_LDADD = tests/sim/libbench.a tests/sim/librig.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/sim/test_bridge
tests_sim_test_bridge_SOURCES = tests/sim/test_bridge.c
tests_sim_test_bridge_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_bridge_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_bridge

check_PROGRAMS += tests/sim/test_bridge_server
tests_sim_test_bridge_server_SOURCES = tests/sim/test_bridge_server.c
tests_sim_test_bridge_server_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_bridge_server_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_bridge_server

check_PROGRAMS += tests/sim/test_return
tests_sim_test_return_SOURCES = tests/sim/test_return.c
tests_sim_test_return_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_return_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_return

check_PROGRAMS += tests/sim/test_crowd
tests_sim_test_crowd_SOURCES = tests/sim/test_crowd.c
tests_sim_test_crowd_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_sim_test_crowd_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_crowd

check_PROGRAMS += tests/sim/test_lines
tests_sim_test_lines_SOURCES = tests/sim/test_lines.c
tests_sim_test_lines_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_lines_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_lines

check_PROGRAMS += tests/sim/test_routing
tests_sim_test_routing_SOURCES = tests/sim/test_routing.c
tests_sim_test_routing_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_routing_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_routing

check_PROGRAMS += tests/sim/test_standing
tests_sim_test_standing_SOURCES = tests/sim/test_standing.c
tests_sim_test_standing_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_standing_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_standing

check_PROGRAMS += tests/sim/test_upstream_sources
tests_sim_test_upstream_sources_SOURCES = tests/sim/test_upstream_sources.c
tests_sim_test_upstream_sources_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_upstream_sources_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_upstream_sources

check_PROGRAMS += tests/sim/test_upstream_servers
tests_sim_test_upstream_servers_SOURCES = tests/sim/test_upstream_servers.c
tests_sim_test_upstream_servers_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_upstream_servers_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_upstream_servers

check_PROGRAMS += tests/sim/test_upstream
tests_sim_test_upstream_SOURCES = tests/sim/test_upstream.c
tests_sim_test_upstream_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_upstream_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_upstream

check_PROGRAMS += tests/sim/test_upstream_versions
tests_sim_test_upstream_versions_SOURCES = tests/sim/test_upstream_versions.c
tests_sim_test_upstream_versions_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_upstream_versions_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_upstream_versions

check_PROGRAMS += tests/sim/test_legs
tests_sim_test_legs_SOURCES = tests/sim/test_legs.c
tests_sim_test_legs_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_legs_LDADD = $(BENCH_LDADD)
TESTS += tests/sim/test_legs

# Whole chains have the messages of tests/nfs too.
CHAIN_LDADD = tests/sim/libbench.a tests/sim/librig.a tests/nfs/librows.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/sim/test_chain
tests_sim_test_chain_SOURCES = tests/sim/test_chain.c
tests_sim_test_chain_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_chain_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_chain

check_PROGRAMS += tests/sim/test_tapping
tests_sim_test_tapping_SOURCES = tests/sim/test_tapping.c
tests_sim_test_tapping_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_tapping_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_tapping

check_PROGRAMS += tests/sim/test_stages
tests_sim_test_stages_SOURCES = tests/sim/test_stages.c
tests_sim_test_stages_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_stages_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_stages

check_PROGRAMS += tests/sim/test_pairings
tests_sim_test_pairings_SOURCES = tests/sim/test_pairings.c
tests_sim_test_pairings_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_pairings_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_pairings

check_PROGRAMS += tests/sim/test_reverse_sizes
tests_sim_test_reverse_sizes_SOURCES = tests/sim/test_reverse_sizes.c
tests_sim_test_reverse_sizes_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_reverse_sizes_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_reverse_sizes

check_PROGRAMS += tests/sim/test_large
tests_sim_test_large_SOURCES = tests/sim/test_large.c
tests_sim_test_large_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_large_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_large

check_PROGRAMS += tests/sim/test_storm
tests_sim_test_storm_SOURCES = tests/sim/test_storm.c tests/sim/storm.h tests/sim/storm_client.c tests/sim/storm_server.c \
	tests/sim/storm_balance.c tests/sim/storm_balance.h tests/sim/storm_counts.c tests/sim/storm_counts.h \
	tests/sim/storm_faults.c tests/sim/storm_plan.c tests/sim/storm_plan.h \
	tests/sim/storm_rpc.c tests/sim/storm_rpc.h
tests_sim_test_storm_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_storm_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_storm

check_PROGRAMS += tests/sim/test_source_port
tests_sim_test_source_port_SOURCES = tests/sim/test_source_port.c
tests_sim_test_source_port_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_source_port_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_source_port

check_PROGRAMS += tests/sim/test_sim
tests_sim_test_sim_SOURCES = tests/sim/test_sim.c
tests_sim_test_sim_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_sim_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_sim

check_PROGRAMS += tests/sim/test_bare
tests_sim_test_bare_SOURCES = tests/sim/bare.c tests/sim/bare.h tests/sim/test_bare.c
tests_sim_test_bare_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_bare_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_bare

check_PROGRAMS += tests/sim/test_pair
tests_sim_test_pair_SOURCES = tests/sim/test_pair.c
tests_sim_test_pair_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_pair_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_pair

check_PROGRAMS += tests/sim/test_reverse
tests_sim_test_reverse_SOURCES = tests/sim/test_reverse.c
tests_sim_test_reverse_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_reverse_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_reverse

check_PROGRAMS += tests/sim/test_reverse_late
tests_sim_test_reverse_late_SOURCES = tests/sim/test_reverse_late.c
tests_sim_test_reverse_late_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_reverse_late_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_reverse_late

check_PROGRAMS += tests/sim/test_requester
tests_sim_test_requester_SOURCES = tests/sim/test_requester.c
tests_sim_test_requester_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester

check_PROGRAMS += tests/sim/test_requester_reply
tests_sim_test_requester_reply_SOURCES = tests/sim/test_requester_reply.c
tests_sim_test_requester_reply_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_reply_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester_reply


check_PROGRAMS += tests/sim/test_requester_lent
tests_sim_test_requester_lent_SOURCES = tests/sim/test_requester_lent.c
tests_sim_test_requester_lent_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_lent_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester_lent

check_PROGRAMS += tests/sim/test_requester_lent_ends
tests_sim_test_requester_lent_ends_SOURCES = tests/sim/test_requester_lent_ends.c
tests_sim_test_requester_lent_ends_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_lent_ends_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester_lent_ends

check_PROGRAMS += tests/sim/test_requester_zero
tests_sim_test_requester_zero_SOURCES = tests/sim/test_requester_zero.c
tests_sim_test_requester_zero_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_zero_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester_zero

check_PROGRAMS += tests/sim/test_watch
tests_sim_test_watch_SOURCES = tests/sim/test_watch.c
tests_sim_test_watch_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_watch_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_watch

check_PROGRAMS += tests/sim/test_conf_client
tests_sim_test_conf_client_SOURCES = tests/sim/test_conf_client.c
tests_sim_test_conf_client_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_conf_client_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_conf_client

check_PROGRAMS += tests/sim/test_conf_server
tests_sim_test_conf_server_SOURCES = tests/sim/test_conf_server.c
tests_sim_test_conf_server_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_conf_server_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_conf_server

check_PROGRAMS += tests/sim/test_conf_versions
tests_sim_test_conf_versions_SOURCES = tests/sim/test_conf_versions.c
tests_sim_test_conf_versions_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_conf_versions_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_conf_versions

check_PROGRAMS += tests/sim/test_requester_ddp
tests_sim_test_requester_ddp_SOURCES = tests/sim/test_requester_ddp.c
tests_sim_test_requester_ddp_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_ddp_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_requester_ddp

check_PROGRAMS += tests/sim/test_peer
tests_sim_test_peer_SOURCES = tests/sim/test_peer.c
tests_sim_test_peer_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_peer_LDADD = tests/sim/libserverpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_peer

check_PROGRAMS += tests/sim/test_responder
tests_sim_test_responder_SOURCES = tests/sim/test_responder.c
tests_sim_test_responder_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_responder

check_PROGRAMS += tests/sim/test_responder_reply
tests_sim_test_responder_reply_SOURCES = tests/sim/test_responder_reply.c
tests_sim_test_responder_reply_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_reply_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_responder_reply


check_PROGRAMS += tests/sim/test_responder_lent
tests_sim_test_responder_lent_SOURCES = tests/sim/test_responder_lent.c
tests_sim_test_responder_lent_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_lent_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_responder_lent

check_PROGRAMS += tests/sim/test_responder_lent_ends
tests_sim_test_responder_lent_ends_SOURCES = tests/sim/test_responder_lent_ends.c
tests_sim_test_responder_lent_ends_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_lent_ends_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_responder_lent_ends

check_PROGRAMS += tests/sim/test_faults
tests_sim_test_faults_SOURCES = tests/sim/test_faults.c
tests_sim_test_faults_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_faults_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_faults

check_PROGRAMS += tests/sim/test_nfs
tests_sim_test_nfs_SOURCES = tests/sim/test_nfs.c
tests_sim_test_nfs_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_nfs_LDADD = tests/sim/librig.a tests/nfs/librows.a tests/lib/libtest.a \
	$(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/sim/test_nfs

check_PROGRAMS += tests/sim/test_padding
tests_sim_test_padding_SOURCES = tests/sim/test_padding.c
tests_sim_test_padding_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_padding_LDADD = tests/sim/librig.a tests/nfs/librows.a tests/lib/libtest.a \
	$(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/sim/test_padding

check_PROGRAMS += tests/sim/test_responder_chunks
tests_sim_test_responder_chunks_SOURCES = tests/sim/test_responder_chunks.c
tests_sim_test_responder_chunks_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_chunks_LDADD = tests/sim/librig.a tests/nfs/librows.a tests/lib/libtest.a \
	$(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/sim/test_responder_chunks

check_PROGRAMS += tests/sim/test_responder_flow
tests_sim_test_responder_flow_SOURCES = tests/sim/test_responder_flow.c
tests_sim_test_responder_flow_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_flow_LDADD = tests/sim/libclientpeer.a $(SIM_LDADD)
TESTS += tests/sim/test_responder_flow

check_PROGRAMS += tests/sim/test_limits
tests_sim_test_limits_SOURCES = tests/sim/test_limits.c
tests_sim_test_limits_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_limits_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_limits

check_PROGRAMS += tests/sim/test_thresholds
tests_sim_test_thresholds_SOURCES = tests/sim/test_thresholds.c
tests_sim_test_thresholds_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_thresholds_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_thresholds

check_PROGRAMS += tests/sim/test_requester_pieces
tests_sim_test_requester_pieces_SOURCES = tests/sim/test_requester_pieces.c \
	tests/sim/pieces.c tests/sim/pieces.h
tests_sim_test_requester_pieces_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_pieces_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_requester_pieces

check_PROGRAMS += tests/sim/test_requester_pieces_ddp
tests_sim_test_requester_pieces_ddp_SOURCES = tests/sim/test_requester_pieces_ddp.c \
	tests/sim/pieces.c tests/sim/pieces.h
tests_sim_test_requester_pieces_ddp_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_requester_pieces_ddp_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_requester_pieces_ddp

check_PROGRAMS += tests/sim/test_responder_pieces
tests_sim_test_responder_pieces_SOURCES = tests/sim/test_responder_pieces.c \
	tests/sim/pieces.c tests/sim/pieces.h
tests_sim_test_responder_pieces_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_pieces_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_responder_pieces

check_PROGRAMS += tests/sim/test_responder_parts
tests_sim_test_responder_parts_SOURCES = tests/sim/test_responder_parts.c \
	tests/sim/pieces.c tests/sim/pieces.h
tests_sim_test_responder_parts_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_parts_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_responder_parts

check_PROGRAMS += tests/sim/test_responder_call_parts
tests_sim_test_responder_call_parts_SOURCES = tests/sim/test_responder_call_parts.c \
	tests/sim/pieces.c tests/sim/pieces.h
tests_sim_test_responder_call_parts_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_responder_call_parts_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_responder_call_parts

check_PROGRAMS += tests/sim/test_drain
tests_sim_test_drain_SOURCES = tests/sim/test_drain.c
tests_sim_test_drain_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_drain_LDADD = $(SIM_LDADD)
TESTS += tests/sim/test_drain

# Version two.

check_PROGRAMS += tests/sim/test_v2_versions
tests_sim_test_v2_versions_SOURCES = tests/sim/test_v2_versions.c
tests_sim_test_v2_versions_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_versions_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_versions

check_PROGRAMS += tests/sim/test_v2_sizes
tests_sim_test_v2_sizes_SOURCES = tests/sim/test_v2_sizes.c
tests_sim_test_v2_sizes_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_sizes_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_sizes

check_PROGRAMS += tests/sim/test_v2_memory
tests_sim_test_v2_memory_SOURCES = tests/sim/test_v2_memory.c
tests_sim_test_v2_memory_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_memory_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_memory

check_PROGRAMS += tests/sim/test_v2_hostile
tests_sim_test_v2_hostile_SOURCES = tests/sim/test_v2_hostile.c
tests_sim_test_v2_hostile_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_hostile_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_hostile

check_PROGRAMS += tests/sim/test_v2_requests
tests_sim_test_v2_requests_SOURCES = tests/sim/test_v2_requests.c
tests_sim_test_v2_requests_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_requests_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_requests

check_PROGRAMS += tests/sim/test_v2_invalidate
tests_sim_test_v2_invalidate_SOURCES = tests/sim/test_v2_invalidate.c
tests_sim_test_v2_invalidate_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_invalidate_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_invalidate

check_PROGRAMS += tests/sim/test_v2_idle
tests_sim_test_v2_idle_SOURCES = tests/sim/test_v2_idle.c
tests_sim_test_v2_idle_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_idle_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_idle

check_PROGRAMS += tests/sim/test_v2_faults
tests_sim_test_v2_faults_SOURCES = tests/sim/test_v2_faults.c
tests_sim_test_v2_faults_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_faults_LDADD = tests/sim/libv2rig.a $(SIM_LDADD)
TESTS += tests/sim/test_v2_faults

check_PROGRAMS += tests/sim/test_v2_chain
tests_sim_test_v2_chain_SOURCES = tests/sim/test_v2_chain.c
tests_sim_test_v2_chain_CFLAGS = $(UNIT_CFLAGS)
tests_sim_test_v2_chain_LDADD = $(CHAIN_LDADD)
TESTS += tests/sim/test_v2_chain
