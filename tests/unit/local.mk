EXTRA_DIST += tests/unit/check_circles.sh tests/unit/check_house.sh tests/unit/circles.awk
EXTRA_DIST += tests/unit/check_requirements.sh
TESTS += tests/unit/check_circles.sh tests/unit/check_house.sh tests/unit/check_requirements.sh

# A third opinion: tshark's.
check_PROGRAMS += tests/unit/header_pcap
tests_unit_header_pcap_SOURCES = tests/unit/header_pcap.c \
	tests/unit/header_goldens.c tests/unit/header_goldens.h
tests_unit_header_pcap_CFLAGS = $(UNIT_CFLAGS)
tests_unit_header_pcap_LDADD = $(UNIT_LDADD)
EXTRA_DIST += tests/unit/header_tshark.sh
TESTS += tests/unit/header_tshark.sh

# A second opinion on transport headers: rpcgen's code for a description in XDR. It is compiled without our
# include path, which has a rpc/xdr.h as libtirpc's has.
check_PROGRAMS += tests/unit/test_header_second_opinion
tests_unit_test_header_second_opinion_SOURCES = tests/unit/test_header_second_opinion.c \
	tests/unit/header_random.c tests/unit/header_random.h
tests_unit_test_header_second_opinion_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_second_opinion_LDADD = tests/unit/libv1peer.a tests/unit/libv2peer.a \
	$(UNIT_LDADD) $(TIRPC_LIBS)
TESTS += tests/unit/test_header_second_opinion

check_PROGRAMS += tests/unit/test_xchar_second_opinion
tests_unit_test_xchar_second_opinion_SOURCES = tests/unit/test_xchar_second_opinion.c
tests_unit_test_xchar_second_opinion_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_xchar_second_opinion_LDADD = tests/unit/libv2peer.a $(UNIT_LDADD) $(TIRPC_LIBS)
TESTS += tests/unit/test_xchar_second_opinion

check_LIBRARIES += tests/unit/libv1peer.a
tests_unit_libv1peer_a_SOURCES = tests/unit/rpcrdma_v1_peer.c tests/unit/rpcrdma_v1_peer.h
nodist_tests_unit_libv1peer_a_SOURCES = tests/unit/generated/rpcrdma_v1.c
tests_unit_libv1peer_a_CPPFLAGS = -I$(srcdir) -Itests/unit/generated $(TIRPC_CFLAGS) -D_GNU_SOURCE
tests_unit_libv1peer_a_CFLAGS = $(AM_CFLAGS) -Wno-unused-variable
EXTRA_DIST += tests/unit/rpcrdma_v1.x
CLEANFILES += tests/unit/generated/rpcrdma_v1.x tests/unit/generated/rpcrdma_v1.h \
	tests/unit/generated/rpcrdma_v1.c

# rpcgen names what it includes after its input, and does not overwrite.
tests/unit/generated/rpcrdma_v1.x: $(srcdir)/tests/unit/rpcrdma_v1.x
	$(AM_V_at)$(MKDIR_P) tests/unit/generated
	$(AM_V_GEN)cp $(srcdir)/tests/unit/rpcrdma_v1.x tests/unit/generated/rpcrdma_v1.x
tests/unit/generated/rpcrdma_v1.h: tests/unit/generated/rpcrdma_v1.x
	$(AM_V_GEN)cd tests/unit/generated && rm -f rpcrdma_v1.h && \
		$(RPCGEN) -h -o rpcrdma_v1.h rpcrdma_v1.x
tests/unit/generated/rpcrdma_v1.c: tests/unit/generated/rpcrdma_v1.h
	$(AM_V_GEN)cd tests/unit/generated && rm -f rpcrdma_v1.c && \
		$(RPCGEN) -c -o rpcrdma_v1.c rpcrdma_v1.x
tests/unit/libv1peer_a-rpcrdma_v1_peer.$(OBJEXT): tests/unit/generated/rpcrdma_v1.h

check_LIBRARIES += tests/unit/libv2peer.a
tests_unit_libv2peer_a_SOURCES = tests/unit/rpcrdma_v2_peer.c tests/unit/rpcrdma_v2_peer.h \
	tests/unit/xchar_peer.c
nodist_tests_unit_libv2peer_a_SOURCES = tests/unit/generated/rpcrdma_v2.c
tests_unit_libv2peer_a_CPPFLAGS = $(tests_unit_libv1peer_a_CPPFLAGS)
tests_unit_libv2peer_a_CFLAGS = $(tests_unit_libv1peer_a_CFLAGS)
EXTRA_DIST += tests/unit/rpcrdma_v2.x
CLEANFILES += tests/unit/generated/rpcrdma_v2.x tests/unit/generated/rpcrdma_v2.h \
	tests/unit/generated/rpcrdma_v2.c

tests/unit/generated/rpcrdma_v2.x: $(srcdir)/tests/unit/rpcrdma_v2.x
	$(AM_V_at)$(MKDIR_P) tests/unit/generated
	$(AM_V_GEN)cp $(srcdir)/tests/unit/rpcrdma_v2.x tests/unit/generated/rpcrdma_v2.x
tests/unit/generated/rpcrdma_v2.h: tests/unit/generated/rpcrdma_v2.x
	$(AM_V_GEN)cd tests/unit/generated && rm -f rpcrdma_v2.h && \
		$(RPCGEN) -h -o rpcrdma_v2.h rpcrdma_v2.x
tests/unit/generated/rpcrdma_v2.c: tests/unit/generated/rpcrdma_v2.h
	$(AM_V_GEN)cd tests/unit/generated && rm -f rpcrdma_v2.c && \
		$(RPCGEN) -c -o rpcrdma_v2.c rpcrdma_v2.x
tests/unit/libv2peer_a-rpcrdma_v2_peer.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h
tests/unit/libv2peer_a-xchar_peer.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h

# The same for others than our library: tests/peer asks it, a line for a message.
check_PROGRAMS += tests/unit/rpcgen_filter
tests_unit_rpcgen_filter_SOURCES = tests/unit/rpcgen_filter.c tests/unit/rpcgen_filter.h \
	tests/unit/rpcgen_v1.c tests/unit/rpcgen_v2.c tests/unit/rpcgen_xchar.c
tests_unit_rpcgen_filter_CPPFLAGS = $(tests_unit_libv1peer_a_CPPFLAGS)
tests_unit_rpcgen_filter_CFLAGS = $(tests_unit_libv1peer_a_CFLAGS)
tests_unit_rpcgen_filter_LDADD = tests/unit/libv1peer.a tests/unit/libv2peer.a $(TIRPC_LIBS)
tests/unit/rpcgen_filter-rpcgen_v1.$(OBJEXT): tests/unit/generated/rpcrdma_v1.h
tests/unit/rpcgen_filter-rpcgen_v2.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h
tests/unit/rpcgen_filter-rpcgen_xchar.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h

check_PROGRAMS += tests/unit/test_header
tests_unit_test_header_SOURCES = tests/unit/test_header.c \
	tests/unit/header_goldens.c tests/unit/header_goldens.h
tests_unit_test_header_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_header

check_PROGRAMS += tests/unit/test_header_lists
tests_unit_test_header_lists_SOURCES = tests/unit/test_header_lists.c
tests_unit_test_header_lists_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_lists_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_header_lists

check_PROGRAMS += tests/unit/test_header_v2
tests_unit_test_header_v2_SOURCES = tests/unit/test_header_v2.c
tests_unit_test_header_v2_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_v2_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_header_v2

check_PROGRAMS += tests/unit/test_xchar
tests_unit_test_xchar_SOURCES = tests/unit/test_xchar.c
tests_unit_test_xchar_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_xchar_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_xchar

check_PROGRAMS += tests/unit/test_xchar_encode
tests_unit_test_xchar_encode_SOURCES = tests/unit/test_xchar_encode.c
tests_unit_test_xchar_encode_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_xchar_encode_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_xchar_encode

check_PROGRAMS += tests/unit/test_msg
tests_unit_test_msg_SOURCES = tests/unit/test_msg.c
tests_unit_test_msg_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_msg_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_msg

check_PROGRAMS += tests/unit/test_reject_reason
tests_unit_test_reject_reason_SOURCES = tests/unit/test_reject_reason.c
tests_unit_test_reject_reason_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_reject_reason_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_reject_reason

check_PROGRAMS += tests/unit/test_proxy_header
tests_unit_test_proxy_header_SOURCES = tests/unit/test_proxy_header.c
tests_unit_test_proxy_header_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_proxy_header_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_proxy_header

check_PROGRAMS += tests/unit/test_ccp
tests_unit_test_ccp_SOURCES = tests/unit/test_ccp.c
tests_unit_test_ccp_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_ccp_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_ccp

check_PROGRAMS += tests/unit/test_private_data
tests_unit_test_private_data_SOURCES = tests/unit/test_private_data.c
tests_unit_test_private_data_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_private_data_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_private_data

check_PROGRAMS += tests/unit/test_xdr
tests_unit_test_xdr_SOURCES = tests/unit/test_xdr.c
tests_unit_test_xdr_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_xdr_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_xdr

check_PROGRAMS += tests/unit/test_recv_runs
tests_unit_test_recv_runs_SOURCES = tests/unit/test_recv_runs.c
tests_unit_test_recv_runs_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_recv_runs_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_recv_runs

check_PROGRAMS += tests/unit/test_negotiation
tests_unit_test_negotiation_SOURCES = tests/unit/test_negotiation.c
tests_unit_test_negotiation_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_negotiation_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_negotiation

check_PROGRAMS += tests/unit/test_own_messages
tests_unit_test_own_messages_SOURCES = tests/unit/test_own_messages.c
tests_unit_test_own_messages_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_own_messages_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_own_messages

check_PROGRAMS += tests/unit/test_version_memory
tests_unit_test_version_memory_SOURCES = tests/unit/test_version_memory.c
tests_unit_test_version_memory_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_version_memory_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_version_memory

CHARACTERISTICS_FIXTURE = tests/unit/characteristics_fixture.c tests/unit/characteristics_fixture.h
check_PROGRAMS += tests/unit/test_characteristics
tests_unit_test_characteristics_SOURCES = tests/unit/test_characteristics.c $(CHARACTERISTICS_FIXTURE)
tests_unit_test_characteristics_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_characteristics_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_characteristics

check_PROGRAMS += tests/unit/test_characteristics_requests
tests_unit_test_characteristics_requests_SOURCES = tests/unit/test_characteristics_requests.c $(CHARACTERISTICS_FIXTURE)
tests_unit_test_characteristics_requests_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_characteristics_requests_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_characteristics_requests

check_PROGRAMS += tests/unit/test_characteristics_wishes
tests_unit_test_characteristics_wishes_SOURCES = tests/unit/test_characteristics_wishes.c $(CHARACTERISTICS_FIXTURE)
tests_unit_test_characteristics_wishes_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_characteristics_wishes_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_characteristics_wishes

check_PROGRAMS += tests/unit/test_characteristics_random
tests_unit_test_characteristics_random_SOURCES = tests/unit/test_characteristics_random.c
tests_unit_test_characteristics_random_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_characteristics_random_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_characteristics_random

check_PROGRAMS += tests/unit/test_size_wish
tests_unit_test_size_wish_SOURCES = tests/unit/test_size_wish.c
tests_unit_test_size_wish_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_size_wish_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_size_wish

check_PROGRAMS += tests/unit/test_pool
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c
tests_unit_test_pool_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_pool_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_pool

check_PROGRAMS += tests/unit/test_sockaddr
tests_unit_test_sockaddr_SOURCES = tests/unit/test_sockaddr.c
tests_unit_test_sockaddr_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_sockaddr_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_sockaddr

check_PROGRAMS += tests/unit/test_durations
tests_unit_test_durations_SOURCES = tests/unit/test_durations.c
tests_unit_test_durations_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_durations_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_durations

check_PROGRAMS += tests/unit/test_spares
tests_unit_test_spares_SOURCES = tests/unit/test_spares.c
tests_unit_test_spares_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_spares_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_spares

check_PROGRAMS += tests/unit/test_state
tests_unit_test_state_SOURCES = tests/unit/test_state.c
tests_unit_test_state_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_state_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_state

# The drawing in HACKING.md.
check_PROGRAMS += tests/unit/print_states
tests_unit_print_states_SOURCES = tests/unit/print_states.c
tests_unit_print_states_CFLAGS = $(UNIT_CFLAGS)
tests_unit_print_states_LDADD = $(DAEMON_LIBS)
EXTRA_DIST += tests/unit/states.sh
TESTS += tests/unit/states.sh

check_PROGRAMS += tests/unit/test_budget
tests_unit_test_budget_SOURCES = tests/unit/test_budget.c \
	tests/unit/budget_fixture.c tests/unit/budget_fixture.h
tests_unit_test_budget_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_budget_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_budget

check_PROGRAMS += tests/unit/test_budget_turns
tests_unit_test_budget_turns_SOURCES = tests/unit/test_budget_turns.c \
	tests/unit/budget_fixture.c tests/unit/budget_fixture.h
tests_unit_test_budget_turns_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_budget_turns_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_budget_turns

check_PROGRAMS += tests/unit/test_intake
tests_unit_test_intake_SOURCES = tests/unit/test_intake.c
tests_unit_test_intake_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_intake_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_intake

check_PROGRAMS += tests/unit/test_porch
tests_unit_test_porch_SOURCES = tests/unit/test_porch.c
tests_unit_test_porch_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_porch_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_porch

check_PROGRAMS += tests/unit/test_placement
tests_unit_test_placement_SOURCES = tests/unit/test_placement.c
tests_unit_test_placement_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_placement_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_placement

check_PROGRAMS += tests/unit/test_client_counts
tests_unit_test_client_counts_SOURCES = tests/unit/test_client_counts.c
tests_unit_test_client_counts_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_client_counts_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_client_counts

check_PROGRAMS += tests/unit/test_call_stats
tests_unit_test_call_stats_SOURCES = tests/unit/test_call_stats.c
tests_unit_test_call_stats_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_call_stats_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_call_stats

check_PROGRAMS += tests/unit/test_door
tests_unit_test_door_SOURCES = tests/unit/test_door.c
tests_unit_test_door_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_door_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_door

check_PROGRAMS += tests/unit/test_server_state
tests_unit_test_server_state_SOURCES = tests/unit/test_server_state.c
tests_unit_test_server_state_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_server_state_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_server_state

check_PROGRAMS += tests/unit/test_targets
tests_unit_test_targets_SOURCES = tests/unit/test_targets.c
tests_unit_test_targets_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_targets_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_targets

check_PROGRAMS += tests/unit/test_lobby
tests_unit_test_lobby_SOURCES = tests/unit/test_lobby.c
tests_unit_test_lobby_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_lobby_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_lobby

check_PROGRAMS += tests/unit/test_clients
tests_unit_test_clients_SOURCES = tests/unit/test_clients.c \
	tests/unit/clients_fixture.c tests/unit/clients_fixture.h
tests_unit_test_clients_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_clients_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_clients

check_PROGRAMS += tests/unit/test_clients_live
tests_unit_test_clients_live_SOURCES = tests/unit/test_clients_live.c \
	tests/unit/clients_fixture.c tests/unit/clients_fixture.h
tests_unit_test_clients_live_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_clients_live_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_clients_live

check_PROGRAMS += tests/unit/test_clients_threads
tests_unit_test_clients_threads_SOURCES = tests/unit/test_clients_threads.c
tests_unit_test_clients_threads_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_clients_threads_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_clients_threads

check_PROGRAMS += tests/unit/test_budget_threads
tests_unit_test_budget_threads_SOURCES = tests/unit/test_budget_threads.c
tests_unit_test_budget_threads_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_budget_threads_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_budget_threads

check_PROGRAMS += tests/unit/test_event_loop
tests_unit_test_event_loop_SOURCES = tests/unit/test_event_loop.c
tests_unit_test_event_loop_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_event_loop_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_event_loop

check_PROGRAMS += tests/unit/test_event_loop_lost
tests_unit_test_event_loop_lost_SOURCES = tests/unit/test_event_loop_lost.c
tests_unit_test_event_loop_lost_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_event_loop_lost_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_event_loop_lost

check_PROGRAMS += tests/unit/test_address
tests_unit_test_address_SOURCES = tests/unit/test_address.c
tests_unit_test_address_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_address_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_address

check_PROGRAMS += tests/unit/test_thread
tests_unit_test_thread_SOURCES = tests/unit/test_thread.c
tests_unit_test_thread_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_thread_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_thread

check_PROGRAMS += tests/unit/test_resolver
tests_unit_test_resolver_SOURCES = tests/unit/test_resolver.c
tests_unit_test_resolver_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_resolver_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_resolver

check_PROGRAMS += tests/unit/test_server_name
tests_unit_test_server_name_SOURCES = tests/unit/test_server_name.c
tests_unit_test_server_name_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_server_name_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_server_name

check_PROGRAMS += tests/unit/test_own_doors
tests_unit_test_own_doors_SOURCES = tests/unit/test_own_doors.c
tests_unit_test_own_doors_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_own_doors_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_own_doors

check_PROGRAMS += tests/unit/test_config_memory
tests_unit_test_config_memory_SOURCES = tests/unit/test_config_memory.c
tests_unit_test_config_memory_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_memory_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_memory

check_PROGRAMS += tests/unit/test_config_value
tests_unit_test_config_value_SOURCES = tests/unit/test_config_value.c
tests_unit_test_config_value_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_value_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_value

# Each of these has a configuration file of its own.
check_LIBRARIES += tests/unit/libconfigfixture.a
tests_unit_libconfigfixture_a_SOURCES = tests/unit/config_fixture.c tests/unit/config_fixture.h
tests_unit_libconfigfixture_a_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/test_config
tests_unit_test_config_SOURCES = tests/unit/test_config.c
tests_unit_test_config_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config

check_PROGRAMS += tests/unit/test_first_bytes
tests_unit_test_first_bytes_SOURCES = tests/unit/test_first_bytes.c
tests_unit_test_first_bytes_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_first_bytes_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_first_bytes

check_PROGRAMS += tests/unit/test_config_messages
tests_unit_test_config_messages_SOURCES = tests/unit/test_config_messages.c
tests_unit_test_config_messages_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_messages_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_messages

check_PROGRAMS += tests/unit/test_config_manual
tests_unit_test_config_manual_SOURCES = tests/unit/test_config_manual.c
tests_unit_test_config_manual_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_manual_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_manual

check_PROGRAMS += tests/unit/test_config_print
tests_unit_test_config_print_SOURCES = tests/unit/test_config_print.c
tests_unit_test_config_print_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_print_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_print

check_PROGRAMS += tests/unit/test_config_listeners
tests_unit_test_config_listeners_SOURCES = tests/unit/test_config_listeners.c
tests_unit_test_config_listeners_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_listeners_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_listeners

check_PROGRAMS += tests/unit/test_config_source
tests_unit_test_config_source_SOURCES = tests/unit/test_config_source.c
tests_unit_test_config_source_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_source_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_source

check_PROGRAMS += tests/unit/test_config_servers
tests_unit_test_config_servers_SOURCES = tests/unit/test_config_servers.c
tests_unit_test_config_servers_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_servers_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_servers

check_PROGRAMS += tests/unit/test_config_syntax
tests_unit_test_config_syntax_SOURCES = tests/unit/test_config_syntax.c
tests_unit_test_config_syntax_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_syntax_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_syntax

check_PROGRAMS += tests/unit/test_config_check
tests_unit_test_config_check_SOURCES = tests/unit/test_config_check.c
tests_unit_test_config_check_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_check_LDADD = tests/unit/libconfigfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config_check

check_PROGRAMS += tests/unit/test_record
tests_unit_test_record_SOURCES = tests/unit/test_record.c
tests_unit_test_record_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_record_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_record

check_PROGRAMS += tests/unit/test_amount
tests_unit_test_amount_SOURCES = tests/unit/test_amount.c
tests_unit_test_amount_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_amount_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_amount

check_PROGRAMS += tests/unit/test_capture
tests_unit_test_capture_SOURCES = tests/unit/test_capture.c
tests_unit_test_capture_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_capture_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_capture

check_PROGRAMS += tests/unit/test_capture_tally
tests_unit_test_capture_tally_SOURCES = tests/unit/test_capture_tally.c
tests_unit_test_capture_tally_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_capture_tally_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_capture_tally

check_PROGRAMS += tests/unit/test_pcapng
tests_unit_test_pcapng_SOURCES = tests/unit/test_pcapng.c
tests_unit_test_pcapng_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_pcapng_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_pcapng

check_PROGRAMS += tests/unit/test_rebuilt_tcp
tests_unit_test_rebuilt_tcp_SOURCES = tests/unit/test_rebuilt_tcp.c
tests_unit_test_rebuilt_tcp_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_rebuilt_tcp_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_rebuilt_tcp

check_PROGRAMS += tests/unit/test_likeness
tests_unit_test_likeness_SOURCES = tests/unit/test_likeness.c
tests_unit_test_likeness_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_likeness_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_likeness

check_PROGRAMS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_log_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_log

check_PROGRAMS += tests/unit/test_metrics_text
tests_unit_test_metrics_text_SOURCES = tests/unit/test_metrics_text.c
tests_unit_test_metrics_text_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_metrics_text_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_metrics_text

check_PROGRAMS += tests/unit/test_stats
tests_unit_test_stats_SOURCES = tests/unit/test_stats.c
tests_unit_test_stats_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_stats_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_stats

check_PROGRAMS += tests/unit/test_tap
tests_unit_test_tap_SOURCES = tests/unit/test_tap.c
tests_unit_test_tap_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_tap_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tap

check_PROGRAMS += tests/unit/test_feed
tests_unit_test_feed_SOURCES = tests/unit/test_feed.c
tests_unit_test_feed_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_feed_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_feed

check_PROGRAMS += tests/unit/test_control
tests_unit_test_control_SOURCES = tests/unit/test_control.c
tests_unit_test_control_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_control_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_control

check_PROGRAMS += tests/unit/test_ctl
tests_unit_test_ctl_SOURCES = tests/unit/test_ctl.c
tests_unit_test_ctl_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl

check_PROGRAMS += tests/unit/test_ctl_trace
tests_unit_test_ctl_trace_SOURCES = tests/unit/test_ctl_trace.c
tests_unit_test_ctl_trace_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_trace_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl_trace

check_PROGRAMS += tests/unit/test_ctl_latency
tests_unit_test_ctl_latency_SOURCES = tests/unit/test_ctl_latency.c
tests_unit_test_ctl_latency_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_latency_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl_latency

check_PROGRAMS += tests/unit/test_ctl_status
tests_unit_test_ctl_status_SOURCES = tests/unit/test_ctl_status.c
tests_unit_test_ctl_status_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_status_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl_status

check_PROGRAMS += tests/unit/test_ctl_top
tests_unit_test_ctl_top_SOURCES = tests/unit/test_ctl_top.c
tests_unit_test_ctl_top_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_top_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl_top

check_PROGRAMS += tests/unit/test_ctl_top_keys
tests_unit_test_ctl_top_keys_SOURCES = tests/unit/test_ctl_top_keys.c
tests_unit_test_ctl_top_keys_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_ctl_top_keys_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_ctl_top_keys

check_PROGRAMS += tests/unit/test_rpcbind
tests_unit_test_rpcbind_SOURCES = tests/unit/test_rpcbind.c
tests_unit_test_rpcbind_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_rpcbind_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_rpcbind

check_PROGRAMS += tests/unit/test_secrets
tests_unit_test_secrets_SOURCES = tests/unit/test_secrets.c
tests_unit_test_secrets_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_secrets_LDADD = tests/lib/libtest.a daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_secrets

check_PROGRAMS += tests/unit/test_stream
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c \
	tests/unit/stream_fixture.c tests/unit/stream_fixture.h
tests_unit_test_stream_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_stream_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_stream

check_PROGRAMS += tests/unit/test_stream_pair
tests_unit_test_stream_pair_SOURCES = tests/unit/test_stream_pair.c \
	tests/unit/stream_fixture.c tests/unit/stream_fixture.h
tests_unit_test_stream_pair_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_stream_pair_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_stream_pair

check_PROGRAMS += tests/unit/test_ports
tests_unit_test_ports_SOURCES = tests/unit/test_ports.c
tests_unit_test_ports_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_ports_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_ports

check_PROGRAMS += tests/unit/test_way_back
tests_unit_test_way_back_SOURCES = tests/unit/test_way_back.c
tests_unit_test_way_back_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_way_back_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_way_back

check_PROGRAMS += tests/unit/test_stream_socket
tests_unit_test_stream_socket_SOURCES = tests/unit/test_stream_socket.c \
	tests/unit/stream_fixture.c tests/unit/stream_fixture.h
tests_unit_test_stream_socket_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_stream_socket_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_stream_socket

# What tests of TCP legs share.
check_LIBRARIES += tests/unit/libtcpfixture.a tests/unit/libtcpbench.a
tests_unit_libtcpfixture_a_SOURCES = tests/unit/tcp_leg_fixture.c tests/unit/tcp_leg_fixture.h
tests_unit_libtcpfixture_a_CFLAGS = $(UNIT_CFLAGS)
tests_unit_libtcpbench_a_SOURCES = tests/unit/tcp_bench.c tests/unit/tcp_bench.h
tests_unit_libtcpbench_a_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/test_tcp_leg
tests_unit_test_tcp_leg_SOURCES = tests/unit/test_tcp_leg.c
tests_unit_test_tcp_leg_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg

check_PROGRAMS += tests/unit/test_tcp_leg_replies
tests_unit_test_tcp_leg_replies_SOURCES = tests/unit/test_tcp_leg_replies.c
tests_unit_test_tcp_leg_replies_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_replies_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg_replies

# Two engines of the iwarp fabric wired together in memory.
check_LIBRARIES += tests/unit/libiwarpside.a
tests_unit_libiwarpside_a_SOURCES = tests/unit/iwarp_peer.c tests/unit/iwarp_peer.h \
	tests/unit/iwarp_side.c tests/unit/iwarp_side.h
tests_unit_libiwarpside_a_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/test_iwarp_details
tests_unit_test_iwarp_details_SOURCES = tests/unit/test_iwarp_details.c \
	tests/unit/iwarp_pair.c tests/unit/iwarp_pair.h
tests_unit_test_iwarp_details_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_details_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_details

check_PROGRAMS += tests/unit/test_iwarp_engine
tests_unit_test_iwarp_engine_SOURCES = tests/unit/test_iwarp_engine.c \
	tests/unit/iwarp_pair.c tests/unit/iwarp_pair.h
tests_unit_test_iwarp_engine_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_engine_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_engine

check_PROGRAMS += tests/unit/test_iwarp_terminate
tests_unit_test_iwarp_terminate_SOURCES = tests/unit/test_iwarp_terminate.c
tests_unit_test_iwarp_terminate_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_terminate_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_terminate

check_PROGRAMS += tests/unit/test_iwarp_reads
tests_unit_test_iwarp_reads_SOURCES = tests/unit/test_iwarp_reads.c
tests_unit_test_iwarp_reads_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_reads_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_reads

check_PROGRAMS += tests/unit/test_iwarp_time
tests_unit_test_iwarp_time_SOURCES = tests/unit/test_iwarp_time.c
tests_unit_test_iwarp_time_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_time_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_time

check_PROGRAMS += tests/unit/test_iwarp_setup
tests_unit_test_iwarp_setup_SOURCES = tests/unit/test_iwarp_setup.c
tests_unit_test_iwarp_setup_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_setup_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_setup

check_PROGRAMS += tests/unit/test_iwarp_expected
tests_unit_test_iwarp_expected_SOURCES = tests/unit/test_iwarp_expected.c \
	tests/unit/iwarp_pair.c tests/unit/iwarp_pair.h
tests_unit_test_iwarp_expected_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_expected_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_expected

check_PROGRAMS += tests/unit/test_iwarp_hostile
tests_unit_test_iwarp_hostile_SOURCES = tests/unit/test_iwarp_hostile.c \
	tests/unit/iwarp_hostile.c tests/unit/iwarp_hostile.h \
	tests/unit/iwarp_pair.c tests/unit/iwarp_pair.h
tests_unit_test_iwarp_hostile_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_hostile_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_hostile

check_PROGRAMS += tests/unit/test_iwarp_habit
tests_unit_test_iwarp_habit_SOURCES = tests/unit/test_iwarp_habit.c
tests_unit_test_iwarp_habit_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_habit_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_habit

check_PROGRAMS += tests/unit/test_iwarp_late
tests_unit_test_iwarp_late_SOURCES = tests/unit/test_iwarp_late.c
tests_unit_test_iwarp_late_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_late_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_late

check_PROGRAMS += tests/unit/test_iwarp_random
tests_unit_test_iwarp_random_SOURCES = tests/unit/test_iwarp_random.c \
	tests/unit/iwarp_ear.c tests/unit/iwarp_ear.h
tests_unit_test_iwarp_random_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_random_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_random

check_PROGRAMS += tests/unit/test_iwarp_probe
tests_unit_test_iwarp_probe_SOURCES = tests/unit/test_iwarp_probe.c
tests_unit_test_iwarp_probe_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_probe_LDADD = tests/unit/libiwarpside.a $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_probe

check_PROGRAMS += tests/unit/test_iwarp_codec
tests_unit_test_iwarp_codec_SOURCES = tests/unit/test_iwarp_codec.c
tests_unit_test_iwarp_codec_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_codec_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_iwarp_codec

check_PROGRAMS += tests/unit/test_iwarp_segment
tests_unit_test_iwarp_segment_SOURCES = tests/unit/iwarp_ends.c tests/unit/iwarp_ends.h \
	tests/unit/test_iwarp_segment.c
tests_unit_test_iwarp_segment_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_segment_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_iwarp_segment

check_PROGRAMS += tests/unit/test_iwarp_socket
tests_unit_test_iwarp_socket_SOURCES = tests/unit/iwarp_ends.c tests/unit/iwarp_ends.h \
	tests/unit/test_iwarp_socket.c
tests_unit_test_iwarp_socket_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_socket_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_iwarp_socket

check_PROGRAMS += tests/unit/test_iwarp_traffic
tests_unit_test_iwarp_traffic_SOURCES = tests/unit/iwarp_ends.c tests/unit/iwarp_ends.h \
	tests/unit/test_iwarp_traffic.c
tests_unit_test_iwarp_traffic_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_iwarp_traffic_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_iwarp_traffic


check_PROGRAMS += tests/unit/test_tcp_leg_ends
tests_unit_test_tcp_leg_ends_SOURCES = tests/unit/test_tcp_leg_ends.c
tests_unit_test_tcp_leg_ends_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_ends_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg_ends

check_PROGRAMS += tests/unit/test_tcp_leg_strangers
tests_unit_test_tcp_leg_strangers_SOURCES = tests/unit/test_tcp_leg_strangers.c
tests_unit_test_tcp_leg_strangers_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_strangers_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg_strangers

check_PROGRAMS += tests/unit/test_tcp_leg_flow
tests_unit_test_tcp_leg_flow_SOURCES = tests/unit/test_tcp_leg_flow.c
tests_unit_test_tcp_leg_flow_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_flow_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg_flow

check_PROGRAMS += tests/unit/test_tcp_leg_reverse
tests_unit_test_tcp_leg_reverse_SOURCES = tests/unit/test_tcp_leg_reverse.c
tests_unit_test_tcp_leg_reverse_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_reverse_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_leg_reverse

check_PROGRAMS += tests/unit/test_tcp_leg_drain
tests_unit_test_tcp_leg_drain_SOURCES = tests/unit/test_tcp_leg_drain.c
tests_unit_test_tcp_leg_drain_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_drain_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_drain

check_PROGRAMS += tests/unit/test_tcp_leg_faults
tests_unit_test_tcp_leg_faults_SOURCES = tests/unit/test_tcp_leg_faults.c
tests_unit_test_tcp_leg_faults_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_faults_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_faults

check_PROGRAMS += tests/unit/test_tcp_leg_pieces
tests_unit_test_tcp_leg_pieces_SOURCES = tests/unit/test_tcp_leg_pieces.c
tests_unit_test_tcp_leg_pieces_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_pieces_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_pieces

check_PROGRAMS += tests/unit/test_tcp_leg_parts
tests_unit_test_tcp_leg_parts_SOURCES = tests/unit/test_tcp_leg_parts.c
tests_unit_test_tcp_leg_parts_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_parts_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_parts

check_PROGRAMS += tests/unit/test_tcp_leg_call_parts
tests_unit_test_tcp_leg_call_parts_SOURCES = tests/unit/test_tcp_leg_call_parts.c
tests_unit_test_tcp_leg_call_parts_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_call_parts_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_call_parts

check_PROGRAMS += tests/unit/test_tcp_leg_claims
tests_unit_test_tcp_leg_claims_SOURCES = tests/unit/test_tcp_leg_claims.c
tests_unit_test_tcp_leg_claims_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_claims_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_claims

check_PROGRAMS += tests/unit/test_tcp_leg_parked
tests_unit_test_tcp_leg_parked_SOURCES = tests/unit/test_tcp_leg_parked.c
tests_unit_test_tcp_leg_parked_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_parked_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_parked

check_PROGRAMS += tests/unit/test_exchange
tests_unit_test_exchange_SOURCES = tests/unit/test_exchange.c
tests_unit_test_exchange_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_exchange_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_exchange

check_PROGRAMS += tests/unit/test_tcp_leg_progress
tests_unit_test_tcp_leg_progress_SOURCES = tests/unit/test_tcp_leg_progress.c
tests_unit_test_tcp_leg_progress_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_progress_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_progress

check_PROGRAMS += tests/unit/test_tcp_leg_turns
tests_unit_test_tcp_leg_turns_SOURCES = tests/unit/test_tcp_leg_turns.c
tests_unit_test_tcp_leg_turns_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_leg_turns_LDADD = tests/unit/libtcpbench.a $(UNIT_LDADD)
TESTS += tests/unit/test_tcp_leg_turns

check_PROGRAMS += tests/unit/test_tcp_connect
tests_unit_test_tcp_connect_SOURCES = tests/unit/test_tcp_connect.c
tests_unit_test_tcp_connect_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_tcp_connect_LDADD = tests/unit/libtcpfixture.a tests/lib/libtest.a tests/lib/libfakenfs.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_tcp_connect

check_PROGRAMS += tests/unit/test_sd
tests_unit_test_sd_SOURCES = tests/unit/test_sd.c
tests_unit_test_sd_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_sd_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_sd

TESTS += tests/unit/dev_stages.sh tests/unit/dev_install.sh tests/unit/without_tests.sh
EXTRA_DIST += tests/unit/dev_stages.sh tests/unit/dev_install.sh tests/unit/without_tests.sh

check_PROGRAMS += tests/unit/test_listen_error
tests_unit_test_listen_error_SOURCES = tests/unit/test_listen_error.c
tests_unit_test_listen_error_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_listen_error_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_listen_error

check_PROGRAMS += tests/unit/test_credits
tests_unit_test_credits_SOURCES = tests/unit/test_credits.c
tests_unit_test_credits_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_credits_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_credits

check_PROGRAMS += tests/unit/test_msg_plan
tests_unit_test_msg_plan_SOURCES = tests/unit/test_msg_plan.c
tests_unit_test_msg_plan_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_msg_plan_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_msg_plan

# What tests of whole proxies share.
check_LIBRARIES += tests/unit/libproxyfixture.a
tests_unit_libproxyfixture_a_SOURCES = tests/unit/proxy_fixture.c tests/unit/proxy_fixture.h \
	tests/unit/proxy_scene.c tests/unit/proxy_scene.h
tests_unit_libproxyfixture_a_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)

check_PROGRAMS += tests/unit/test_proxy
tests_unit_test_proxy_SOURCES = tests/unit/test_proxy.c
tests_unit_test_proxy_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_proxy_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_proxy

check_PROGRAMS += tests/unit/test_proxy_scarce
tests_unit_test_proxy_scarce_SOURCES = tests/unit/test_proxy_scarce.c
tests_unit_test_proxy_scarce_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_proxy_scarce_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_proxy_scarce

check_PROGRAMS += tests/unit/test_metrics
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c
tests_unit_test_metrics_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_metrics_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_metrics

check_PROGRAMS += tests/unit/test_mount
tests_unit_test_mount_SOURCES = tests/unit/test_mount.c
tests_unit_test_mount_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_mount_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_mount

check_PROGRAMS += tests/unit/test_shared_port
tests_unit_test_shared_port_SOURCES = tests/unit/test_shared_port.c
tests_unit_test_shared_port_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_shared_port_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_shared_port

check_PROGRAMS += tests/unit/test_reload
tests_unit_test_reload_SOURCES = tests/unit/test_reload.c
tests_unit_test_reload_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_reload_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_reload

check_PROGRAMS += tests/unit/test_held_sockets
tests_unit_test_held_sockets_SOURCES = tests/unit/test_held_sockets.c tests/unit/fake_manager.c \
	tests/unit/fake_manager.h
tests_unit_test_held_sockets_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_held_sockets_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_held_sockets

check_PROGRAMS += tests/unit/test_watchdog
tests_unit_test_watchdog_SOURCES = tests/unit/test_watchdog.c tests/unit/fake_manager.c \
	tests/unit/fake_manager.h
tests_unit_test_watchdog_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_watchdog_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_watchdog

check_PROGRAMS += tests/unit/test_answers
tests_unit_test_answers_SOURCES = tests/unit/test_answers.c
tests_unit_test_answers_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_answers_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/unit/golden/check.keys tests/unit/golden/status.keys tests/unit/golden/target.keys tests/unit/golden/services.keys \
	tests/unit/golden/connections.keys tests/unit/golden/stats.keys \
	tests/unit/golden/counters.keys tests/unit/golden/latency.keys tests/unit/golden/log.keys tests/unit/golden/stop.keys
TESTS += tests/unit/test_answers

check_PROGRAMS += tests/unit/test_doors
tests_unit_test_doors_SOURCES = tests/unit/test_doors.c
tests_unit_test_doors_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_doors_LDADD = tests/unit/libproxyfixture.a tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_doors

check_PROGRAMS += tests/unit/test_verbs
tests_unit_test_verbs_SOURCES = tests/unit/test_verbs.c
tests_unit_test_verbs_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_verbs

# The verbs fabric on a device that is none: the libraries' functions stand in the archive, which comes before them.
check_LIBRARIES += tests/unit/libverbsfake.a
tests_unit_libverbsfake_a_SOURCES = tests/unit/verbs_fake.c tests/unit/verbs_fake.h tests/unit/verbs_scene.c tests/unit/verbs_scene.h
tests_unit_libverbsfake_a_CFLAGS = $(UNIT_CFLAGS)
check_PROGRAMS += tests/unit/test_verbs_async
tests_unit_test_verbs_async_SOURCES = tests/unit/test_verbs_async.c
tests_unit_test_verbs_async_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_async_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_async
check_PROGRAMS += tests/unit/test_verbs_ep
tests_unit_test_verbs_ep_SOURCES = tests/unit/test_verbs_ep.c
tests_unit_test_verbs_ep_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_ep_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_ep
check_PROGRAMS += tests/unit/test_verbs_keys
tests_unit_test_verbs_keys_SOURCES = tests/unit/test_verbs_keys.c
tests_unit_test_verbs_keys_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_keys_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_keys
check_PROGRAMS += tests/unit/test_verbs_leg
tests_unit_test_verbs_leg_SOURCES = tests/unit/test_verbs_leg.c
tests_unit_test_verbs_leg_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_leg_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_leg
check_PROGRAMS += tests/unit/test_verbs_memlock
tests_unit_test_verbs_memlock_SOURCES = tests/unit/test_verbs_memlock.c
tests_unit_test_verbs_memlock_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_memlock_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_memlock
check_PROGRAMS += tests/unit/test_verbs_probe
tests_unit_test_verbs_probe_SOURCES = tests/unit/test_verbs_probe.c
tests_unit_test_verbs_probe_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_probe_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_probe
check_PROGRAMS += tests/unit/test_verbs_recvs
tests_unit_test_verbs_recvs_SOURCES = tests/unit/test_verbs_recvs.c
tests_unit_test_verbs_recvs_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_verbs_recvs_LDADD = tests/unit/libverbsfake.a $(UNIT_LDADD)
TESTS += tests/unit/test_verbs_recvs

check_PROGRAMS += tests/unit/test_inline_limit
tests_unit_test_inline_limit_SOURCES = tests/unit/test_inline_limit.c
tests_unit_test_inline_limit_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_inline_limit_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_inline_limit

check_PROGRAMS += tests/unit/test_call_form
tests_unit_test_call_form_SOURCES = tests/unit/test_call_form.c
tests_unit_test_call_form_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_call_form_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_call_form

check_PROGRAMS += tests/unit/test_call_verdict
tests_unit_test_call_verdict_SOURCES = tests/unit/test_call_verdict.c
tests_unit_test_call_verdict_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_call_verdict_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_call_verdict

check_PROGRAMS += tests/unit/test_pieces
tests_unit_test_pieces_SOURCES = tests/unit/test_pieces.c
tests_unit_test_pieces_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_pieces_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_pieces

check_PROGRAMS += tests/unit/test_namespace
tests_unit_test_namespace_SOURCES = tests/unit/test_namespace.c
tests_unit_test_namespace_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_namespace_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_namespace

# Of tests/bench.
check_PROGRAMS += tests/unit/test_load
tests_unit_test_load_SOURCES = tests/unit/test_load.c tests/bench/latency.c tests/bench/latency.h \
	tests/bench/arrivals.c tests/bench/arrivals.h $(bench_messages) $(bench_records)
tests_unit_test_load_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_load_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_load

check_PROGRAMS += tests/unit/test_nfs3_call
tests_unit_test_nfs3_call_SOURCES = tests/unit/test_nfs3_call.c
tests_unit_test_nfs3_call_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_nfs3_call_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_nfs3_call

check_PROGRAMS += tests/unit/test_probe_call
tests_unit_test_probe_call_SOURCES = tests/unit/test_probe_call.c
tests_unit_test_probe_call_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_probe_call_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_probe_call

# Of tests/lib.
check_PROGRAMS += tests/unit/test_time_limit
tests_unit_test_time_limit_SOURCES = tests/unit/test_time_limit.c
tests_unit_test_time_limit_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_time_limit_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_time_limit tests/unit/time_limit.sh
EXTRA_DIST += tests/unit/time_limit.sh
