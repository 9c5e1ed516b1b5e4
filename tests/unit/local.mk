# Each program is one file, tests/unit/NAME.c, and links what it needs of LDADD.
unit_tests = \
	tests/unit/test_address \
	tests/unit/test_humanize \
	tests/unit/test_budget \
	tests/unit/test_budget_threads \
	tests/unit/test_budget_turns \
	tests/unit/test_chunk_select \
	tests/unit/test_call_identity \
	tests/unit/test_call_stats \
	tests/unit/test_call_check \
	tests/unit/test_capture \
	tests/unit/test_pcapng_verify \
	tests/unit/test_ccp \
	tests/unit/test_characteristics \
	tests/unit/test_characteristics_random \
	tests/unit/test_characteristics_requests \
	tests/unit/test_characteristics_wishes \
	tests/unit/test_client_limits \
	tests/unit/test_client_affinity \
	tests/unit/test_client_affinity_kinds \
	tests/unit/test_client_affinity_live \
	tests/unit/test_client_affinity_queries \
	tests/unit/test_client_affinity_threads \
	tests/unit/test_config \
	tests/unit/test_config_check \
	tests/unit/test_config_listeners \
	tests/unit/test_config_memory \
	tests/unit/test_config_messages \
	tests/unit/test_config_print \
	tests/unit/test_config_servers \
	tests/unit/test_config_source \
	tests/unit/test_config_syntax \
	tests/unit/test_config_tls \
	tests/unit/test_config_truth \
	tests/unit/test_config_value \
	tests/unit/test_background \
	tests/unit/test_control \
	tests/unit/test_host_limits \
	tests/unit/test_http_host \
	tests/unit/test_listener_names \
	tests/unit/test_coverage \
	tests/unit/test_credits \
	tests/unit/test_ctl \
	tests/unit/test_ctl_latency \
	tests/unit/test_ctl_socket \
	tests/unit/test_ctl_status \
	tests/unit/test_ctl_top \
	tests/unit/test_ctl_top_keys \
	tests/unit/test_ctl_trace \
	tests/unit/test_conn_limits \
	tests/unit/test_histogram \
	tests/unit/test_event_loop \
	tests/unit/test_event_loop_lost \
	tests/unit/test_exchange \
	tests/unit/test_stream_client \
	tests/unit/test_proto_sniff \
	tests/unit/test_hash_table \
	tests/unit/test_header \
	tests/unit/test_header_lists \
	tests/unit/test_header_second_opinion \
	tests/unit/test_header_v2 \
	tests/unit/test_inline_threshold \
	tests/unit/test_accept_queue \
	tests/unit/test_job_threads \
	tests/unit/test_iwarp_codec \
	tests/unit/test_iwarp_details \
	tests/unit/test_iwarp_engine \
	tests/unit/test_iwarp_expected \
	tests/unit/test_iwarp_habit \
	tests/unit/test_iwarp_hostile \
	tests/unit/test_iwarp_late \
	tests/unit/test_iwarp_keepalive \
	tests/unit/test_iwarp_random \
	tests/unit/test_iwarp_reads \
	tests/unit/test_iwarp_segment \
	tests/unit/test_iwarp_setup \
	tests/unit/test_iwarp_socket \
	tests/unit/test_iwarp_terminate \
	tests/unit/test_iwarp_time \
	tests/unit/test_iwarp_traffic \
	tests/unit/test_iwarp_written \
	tests/unit/test_edit_distance \
	tests/unit/test_listener_error \
	tests/unit/test_load \
	tests/unit/test_tarpit \
	tests/unit/test_tls_limits \
	tests/unit/test_log \
	tests/unit/test_metrics_text \
	tests/unit/test_min_heap \
	tests/unit/test_rpc_header \
	tests/unit/test_read_plan \
	tests/unit/test_namespace \
	tests/unit/test_reader \
	tests/unit/test_negotiation \
	tests/unit/test_nfs3_call \
	tests/unit/test_self_connect \
	tests/unit/test_control_msgs \
	tests/unit/test_plugin_line \
	tests/unit/test_pcapng \
	tests/unit/test_xdr_sg \
	tests/unit/test_points \
	tests/unit/test_buf_pool \
	tests/unit/test_accept_filter \
	tests/unit/test_reserved_ports \
	tests/unit/test_private_data \
	tests/unit/test_check_rpc \
	tests/unit/test_health_timer \
	tests/unit/test_problems \
	tests/unit/test_proxy_protocol \
	tests/unit/test_pcap_tcp \
	tests/unit/test_record_mark \
	tests/unit/test_posted_recvs \
	tests/unit/test_rpcbind_sync \
	tests/unit/test_reject_reason \
	tests/unit/test_resolver \
	tests/unit/test_rpcb_xdr \
	tests/unit/test_sd_notify \
	tests/unit/test_redact \
	tests/unit/test_dns_cache \
	tests/unit/test_server_health \
	tests/unit/test_recv_queue_sizing \
	tests/unit/test_slab_domain \
	tests/unit/test_sockaddr \
	tests/unit/test_starttls \
	tests/unit/test_freelist \
	tests/unit/test_state_machine \
	tests/unit/test_stats \
	tests/unit/test_stream \
	tests/unit/test_stream_pair \
	tests/unit/test_stream_socket \
	tests/unit/test_tap \
	tests/unit/test_servers \
	tests/unit/test_service_tls \
	tests/unit/test_thread \
	tests/unit/test_time_limit \
	tests/unit/test_tls_context \
	tests/unit/test_tls_faults \
	tests/unit/test_tls_handshake \
	tests/unit/test_tls_memory \
	tests/unit/test_tls_peers \
	tests/unit/test_tls_stream \
	tests/unit/test_tls_threads \
	tests/unit/test_verbs \
	tests/unit/test_version_cache \
	tests/unit/test_return_route \
	tests/unit/test_worker_select \
	tests/unit/test_xchar \
	tests/unit/test_xchar_encode \
	tests/unit/test_xchar_second_opinion \
	tests/unit/test_xdr

# Legs of TCP, over sockets.
tcp_leg_tests = \
	tests/unit/test_tcp_connect \
	tests/unit/test_tcp_leg \
	tests/unit/test_tcp_leg_copies \
	tests/unit/test_tcp_leg_ends \
	tests/unit/test_tcp_leg_flow \
	tests/unit/test_tcp_leg_replies \
	tests/unit/test_tcp_leg_reverse \
	tests/unit/test_tcp_leg_strangers
$(tcp_leg_tests): FIXTURE = tests/unit/libtcpfixture.a tests/lib/libfakenfs.a
$(tcp_leg_tests): tests/unit/libtcpfixture.a tests/lib/libfakenfs.a

# Legs of TCP on a bench.
tcp_bench_tests = \
	tests/unit/test_tcp_leg_call_parts \
	tests/unit/test_tcp_leg_claims \
	tests/unit/test_tcp_leg_drain \
	tests/unit/test_tcp_leg_faults \
	tests/unit/test_tcp_leg_parked \
	tests/unit/test_tcp_leg_parts \
	tests/unit/test_tcp_leg_pieces \
	tests/unit/test_tcp_leg_progress \
	tests/unit/test_tcp_leg_turns
$(tcp_bench_tests): FIXTURE = tests/unit/libtcpbench.a
$(tcp_bench_tests): tests/unit/libtcpbench.a

# The same with TLS.
tcp_tls_tests = \
	tests/unit/test_tcp_tls_accept \
	tests/unit/test_tcp_tls_calls \
	tests/unit/test_tcp_tls_connect \
	tests/unit/test_tcp_tls_life \
	tests/unit/test_tcp_tls_memory
$(tcp_tls_tests): FIXTURE = tests/unit/libtcptlsbench.a tests/unit/libtcpbench.a
$(tcp_tls_tests): tests/unit/libtcptlsbench.a tests/unit/libtcpbench.a

# Whole proxies.
proxy_tests = \
	tests/unit/test_answers \
	tests/unit/test_conn_limits_proxy \
	tests/unit/test_listener_inherit \
	tests/unit/test_metrics \
	tests/unit/test_mount \
	tests/unit/test_problems_live \
	tests/unit/test_proxy \
	tests/unit/test_proxy_scarce \
	tests/unit/test_readiness \
	tests/unit/test_reload \
	tests/unit/test_reload_ends \
	tests/unit/test_reload_tls \
	tests/unit/test_shared_port \
	tests/unit/test_tls_proxies \
	tests/unit/test_watchdog
$(proxy_tests): FIXTURE = tests/unit/libproxyfixture.a
$(proxy_tests): tests/unit/libproxyfixture.a

# The verbs fabric on a device that is none: the libraries' functions stand in the archive, which comes before them.
verbs_tests = \
	tests/unit/test_verbs_async \
	tests/unit/test_verbs_completions \
	tests/unit/test_verbs_cq \
	tests/unit/test_verbs_domain \
	tests/unit/test_verbs_ep \
	tests/unit/test_verbs_hung \
	tests/unit/test_verbs_keys \
	tests/unit/test_verbs_late \
	tests/unit/test_verbs_leg \
	tests/unit/test_verbs_memlock \
	tests/unit/test_verbs_keepalive \
	tests/unit/test_verbs_qp \
	tests/unit/test_verbs_recvs \
	tests/unit/test_verbs_two_workers \
	tests/unit/test_verbs_windows
$(verbs_tests): FIXTURE = tests/unit/libverbsfake.a
$(verbs_tests): tests/unit/libverbsfake.a

unit_scripts = \
	tests/unit/check_circles.sh \
	tests/unit/check_layering.sh \
	tests/unit/check_phrases.sh \
	tests/unit/check_requirements.sh \
	tests/unit/dev_install.sh \
	tests/unit/roots.sh \
	tests/unit/dev_stages.sh \
	tests/unit/e2e_run.sh \
	tests/unit/header_tshark.sh \
	tests/unit/states.sh \
	tests/unit/time_limit.sh \
	tests/unit/json_at.sh \
	tests/unit/without_tests.sh
all_unit_tests = $(unit_tests) $(tcp_leg_tests) $(tcp_bench_tests) $(tcp_tls_tests) $(proxy_tests) $(verbs_tests)
TESTS += $(unit_scripts) $(all_unit_tests)
EXTRA_DIST += $(unit_scripts) tests/unit/circles.awk tests/unit/phrases.txt tests/unit/phrases_text.awk \
	tests/unit/golden/check.keys tests/unit/golden/connections.keys tests/unit/golden/counters.keys \
	tests/unit/golden/latency.keys tests/unit/golden/log.keys tests/unit/golden/services.keys \
	tests/unit/golden/stats.keys tests/unit/golden/status.keys tests/unit/golden/stop.keys \
	tests/unit/golden/target.keys

# Scripts run header_pcap for tshark (header_tshark.sh) and print_states for doc/states.md (states.sh).
check_PROGRAMS += $(all_unit_tests) tests/unit/header_pcap tests/unit/print_states

# What several tests share, or what makes one test too long: one archive, and others for what has names of something else.
check_LIBRARIES += tests/unit/libunit.a tests/unit/libtcpfixture.a tests/unit/libtcpbench.a tests/unit/libtcptlsbench.a \
	tests/unit/libproxyfixture.a tests/unit/libverbsfake.a
tests_unit_libunit_a_SOURCES = \
	tests/unit/config_fixture.c tests/unit/config_fixture.h \
	tests/unit/fake_manager.c tests/unit/fake_manager.h \
	tests/unit/header_goldens.c tests/unit/header_goldens.h \
	tests/unit/header_random.c tests/unit/header_random.h \
	tests/unit/iwarp_sink.c tests/unit/iwarp_sink.h \
	tests/unit/iwarp_ends.c tests/unit/iwarp_ends.h \
	tests/unit/iwarp_hostile.c tests/unit/iwarp_hostile.h \
	tests/unit/iwarp_pair.c tests/unit/iwarp_pair.h \
	tests/unit/iwarp_peer.c tests/unit/iwarp_peer.h \
	tests/unit/iwarp_side.c tests/unit/iwarp_side.h
tests_unit_libtcpfixture_a_SOURCES = tests/unit/tcp_leg_fixture.c tests/unit/tcp_leg_fixture.h
tests_unit_libtcpbench_a_SOURCES = tests/unit/tcp_bench.c tests/unit/tcp_bench.h
tests_unit_libtcptlsbench_a_SOURCES = tests/unit/tcp_tls_bench.c tests/unit/tcp_tls_bench.h
tests_unit_libproxyfixture_a_SOURCES = tests/unit/proxy_fixture.c tests/unit/proxy_fixture.h \
	tests/unit/proxy_scene.c tests/unit/proxy_scene.h
tests_unit_libverbsfake_a_SOURCES = tests/unit/verbs_fake.c tests/unit/verbs_fake.h \
	tests/unit/verbs_scene.c tests/unit/verbs_scene.h

# Fixtures of two or three tests each, with common names. They are compiled once, since no test has flags of its own.
budget_fixture = tests/unit/budget_fixture.c tests/unit/budget_fixture.h
tests_unit_test_budget_SOURCES = tests/unit/test_budget.c $(budget_fixture)
tests_unit_test_budget_turns_SOURCES = tests/unit/test_budget_turns.c $(budget_fixture)
characteristics_fixture = tests/unit/characteristics_fixture.c tests/unit/characteristics_fixture.h
tests_unit_test_characteristics_SOURCES = tests/unit/test_characteristics.c $(characteristics_fixture)
tests_unit_test_characteristics_requests_SOURCES = tests/unit/test_characteristics_requests.c $(characteristics_fixture)
tests_unit_test_characteristics_wishes_SOURCES = tests/unit/test_characteristics_wishes.c $(characteristics_fixture)
client_affinity_fixture = tests/unit/client_affinity_fixture.c tests/unit/client_affinity_fixture.h
tests_unit_test_client_affinity_SOURCES = tests/unit/test_client_affinity.c $(client_affinity_fixture)
tests_unit_test_client_affinity_kinds_SOURCES = tests/unit/test_client_affinity_kinds.c $(client_affinity_fixture)
tests_unit_test_client_affinity_live_SOURCES = tests/unit/test_client_affinity_live.c $(client_affinity_fixture)
tests_unit_test_client_affinity_queries_SOURCES = tests/unit/test_client_affinity_queries.c $(client_affinity_fixture)
stream_fixture = tests/unit/stream_fixture.c tests/unit/stream_fixture.h
tls_fixture = tests/unit/tls_fixture.c tests/unit/tls_fixture.h
openssl_peer = tests/unit/openssl_peer.c tests/unit/openssl_peer.h
tests_unit_test_tls_context_SOURCES = tests/unit/test_tls_context.c $(tls_fixture)
tests_unit_test_tls_handshake_SOURCES = tests/unit/test_tls_handshake.c $(tls_fixture)
tests_unit_test_tls_peers_SOURCES = tests/unit/test_tls_peers.c $(tls_fixture) $(openssl_peer)
tests_unit_test_tls_faults_SOURCES = tests/unit/test_tls_faults.c $(tls_fixture)
tests_unit_test_tls_threads_SOURCES = tests/unit/test_tls_threads.c $(tls_fixture)
tests_unit_test_tls_memory_SOURCES = tests/unit/test_tls_memory.c $(tls_fixture)
tests_unit_test_tcp_tls_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
tests_unit_test_tls_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
tests_unit_test_tls_stream_SOURCES = tests/unit/test_tls_stream.c $(tls_fixture) $(openssl_peer)
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c $(stream_fixture)
tests_unit_test_stream_pair_SOURCES = tests/unit/test_stream_pair.c $(stream_fixture)
tests_unit_test_stream_socket_SOURCES = tests/unit/test_stream_socket.c $(stream_fixture)

# Each assertion calls what is to be counted.
tests_unit_test_points_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=_mark_point
tests_unit_test_load_LDADD = tests/bench/libload.a $(LDADD)

# A second opinion on transport headers: rpcgen's code for a description in XDR. It is compiled without our
# include path, which has a rpc/xdr.h as libtirpc's has.
SECOND_OPINION = tests/unit/libv1peer.a tests/unit/libv2peer.a
tests_unit_test_header_second_opinion_LDADD = $(SECOND_OPINION) $(LDADD) $(TIRPC_LIBS)
tests_unit_test_xchar_second_opinion_LDADD = $(SECOND_OPINION) $(LDADD) $(TIRPC_LIBS)

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
tests_unit_rpcgen_filter_LDADD = $(SECOND_OPINION) $(TIRPC_LIBS)
tests/unit/rpcgen_filter-rpcgen_v1.$(OBJEXT): tests/unit/generated/rpcrdma_v1.h
tests/unit/rpcgen_filter-rpcgen_v2.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h
tests/unit/rpcgen_filter-rpcgen_xchar.$(OBJEXT): tests/unit/generated/rpcrdma_v2.h
