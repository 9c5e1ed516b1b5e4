# The end-to-end tests: `make check-e2e` builds their programs and runs them. They need NFS-Ganesha, libnfs,
# tshark and root, so `make check` leaves them alone; `./dev test` runs them.
end_to_end_programs = $(EXTRA_PROGRAMS)
end_to_end_preloads = tests/e2e/copycount.so tests/e2e/clockjump.so tests/e2e/slowreads.so
end_to_end_scripts = tests/e2e/run.sh tests/e2e/lib.sh tests/e2e/standin.sh tests/e2e/hosts.sh tests/e2e/pages.sh tests/e2e/TESTS \
	tests/e2e/bulk_data.sh \
	tests/e2e/devices.sh tests/e2e/device_faults.sh tests/e2e/device_churn.sh tests/e2e/hung_device.sh tests/e2e/removed_device.sh \
	tests/e2e/big_directory.sh \
	tests/e2e/every_size.sh \
	tests/e2e/configuration.sh \
	tests/e2e/ddp.sh \
	tests/e2e/peers.sh \
	tests/e2e/client_killed.sh \
	tests/e2e/proxy_restarted.sh tests/e2e/reload.sh \
	tests/e2e/unit_calls.sh \
	tests/e2e/server_restarted.sh \
	tests/e2e/early_replies.sh tests/e2e/early_replies.py \
	tests/e2e/signals.sh \
	tests/e2e/start_messages.sh \
	tests/e2e/control_client.sh \
	tests/e2e/support.sh \
	tests/e2e/tls_files.sh \
	tests/e2e/rpcbind.sh \
	tests/e2e/one_service.sh \
	tests/e2e/several_addresses.sh \
	tests/e2e/source_addresses.sh tests/e2e/privileged_ports.sh tests/e2e/client_addresses.sh tests/e2e/session.py \
	tests/e2e/server_checks.sh \
	tests/e2e/several_servers.sh \
	tests/e2e/name_servers.sh \
	tests/e2e/own_upstream.sh \
	tests/e2e/file_checked.sh \
	tests/e2e/from_alert.sh \
	tests/e2e/conformance.sh \
	tests/e2e/memory_server.sh \
	tests/e2e/wrong_ports.sh \
	tests/e2e/capture.sh \
	tests/e2e/capture_command.sh \
	tests/e2e/demo.sh tests/e2e/demo_shown.sh \
	tests/e2e/no_copies.sh \
	tests/e2e/instructions_counted.sh \
	tests/e2e/costs.sh \
	tests/e2e/bench.sh \
	tests/e2e/versions.sh \
	tests/e2e/receive_sizes.sh \
	tests/e2e/bench_programs.sh \
	tests/e2e/gateway.sh \
	tests/e2e/readme.sh \
	tests/e2e/recipes.sh \
	tests/e2e/ordinary_user.sh \
	tests/e2e/other_fabrics.sh \
	tests/e2e/strace_read.sh \
	tests/e2e/replayed_calls.sh \
	tests/e2e/late_ends.sh \
	tests/e2e/same_ports.sh \
	tests/e2e/retransmissions.sh \
	tests/e2e/slow_server.sh \
	tests/e2e/both_ways.sh \
	tests/e2e/reverse_chunks.sh \
	tests/e2e/recalls.sh \
	tests/e2e/thresholds.sh \
	tests/e2e/top.sh \
	tests/e2e/reverse_sizes.sh \
	tests/e2e/tcp_garbage.sh \
	tests/e2e/conn_limits.sh \
	tests/e2e/half_closed.sh \
	tests/e2e/one_client.sh \
	tests/e2e/little_memory.sh \
	tests/e2e/large_messages.sh \
	tests/e2e/latency.sh \
	tests/e2e/trace.sh \
	tests/e2e/problems.sh \
	tests/e2e/probes.sh \
	tests/e2e/http.sh tests/e2e/http_raw.py tests/e2e/stop_thread.py tests/e2e/metrics.sh tests/e2e/page.sh tests/e2e/browser.py tests/e2e/time_limit.py tests/e2e/scrape_cost.sh \
	tests/e2e/neighbours.sh \
	tests/e2e/log_lines.sh \
	tests/e2e/clock_jumps.sh tests/e2e/frozen_server.sh tests/e2e/killed_often.sh \
	tests/e2e/lost_log.sh tests/e2e/few_descriptors.sh \
	tests/e2e/journal.sh tests/e2e/log_level.sh \
	tests/e2e/hostile.sh \
	tests/e2e/lying_server.sh \
	tests/e2e/crowd.sh \
	tests/e2e/outage.sh \
	tests/e2e/silent_peers.sh \
	tests/e2e/proxy_headers.sh \
	tests/e2e/tls.sh tests/e2e/tls_chain.sh tests/e2e/tls_hostile.sh tests/e2e/tls_reload.sh tests/e2e/tls_servers.sh \
	tests/e2e/tls_peers.sh tests/e2e/tls_client.py tests/e2e/tls_crowd.py tests/e2e/tls_server.py tests/e2e/tls_wire.py \
	tests/e2e/twenty_clients.sh
EXTRA_PROGRAMS += tests/e2e/rpc_peer tests/e2e/name_server \
	tests/e2e/held_call tests/e2e/non_rpc_server tests/e2e/journal_reader tests/e2e/delay_relay \
	tests/e2e/timed_reads tests/e2e/nfs41_client
EXTRA_DIST += $(end_to_end_scripts)
CLEANFILES += $(end_to_end_programs) $(end_to_end_preloads)

tests_e2e_rpc_peer_SOURCES = tests/e2e/rpc_peer.c tests/e2e/rpc_peer.h \
	tests/e2e/echo.c tests/e2e/echo.h tests/e2e/message.c tests/e2e/message.h \
	tests/e2e/net.c tests/e2e/net.h tests/e2e/mpa.c tests/e2e/mpa.h \
	tests/e2e/hostile.h tests/e2e/hostile_kinds.c tests/e2e/hostile_servers.c \
	tests/e2e/client_ask.c tests/e2e/client_hostile.c tests/e2e/client_outage.c \
	tests/e2e/client_bad_server.c tests/e2e/client_both_ways.c tests/e2e/client_copies.c tests/e2e/client_conn_limits.c \
	tests/e2e/client_flow.c tests/e2e/client_half_closed.c tests/e2e/client_one_client.c \
	tests/e2e/client_garbage.c tests/e2e/client_large.c tests/e2e/client_neighbour.c \
	tests/e2e/client_lying.c tests/e2e/client_recall.c tests/e2e/client_replay.c tests/e2e/client_retransmit.c tests/e2e/client_returning.c \
	tests/e2e/client_steady.c tests/e2e/client_steps.c \
	tests/e2e/replay_client.c tests/e2e/replay_client.h tests/e2e/replay_relay.c tests/e2e/replay_relay.h \
	tests/e2e/replay_turns.c tests/e2e/replay_turns.h \
	tests/lib/time_limit.c tests/lib/time_limit.h
tests_e2e_rpc_peer_LDADD =
tests_e2e_name_server_LDADD =
tests_e2e_held_call_LDADD =
tests_e2e_nfs41_client_LDADD =
tests_e2e_non_rpc_server_LDADD =
tests_e2e_journal_reader_LDADD =
tests_e2e_delay_relay_LDADD =

tests_e2e_timed_reads_CFLAGS = $(AM_CFLAGS) $(LIBNFS_CFLAGS)
tests_e2e_timed_reads_LDADD = $(LIBNFS_LIBS)

# Preloaded into a proxy, so made with no sanitizer and no hardening of its own.
EXTRA_DIST += tests/e2e/copycount.c tests/e2e/clockjump.c tests/e2e/slowreads.c
$(end_to_end_preloads): tests/e2e/%.so: tests/e2e/%.c
	$(AM_V_CCLD)$(MKDIR_P) tests/e2e && \
	$(CC) -std=gnu11 -O2 -fPIC -shared -fno-builtin -U_FORTIFY_SOURCE -o $@ $(srcdir)/tests/e2e/$*.c

e2e-programs: all
	$(MAKE) $(AM_MAKEFLAGS) $(end_to_end_programs) $(end_to_end_preloads) $(standin_preloads) tests/judge/judge tests/lib/json_at tests/lib/time_limit
check-e2e: e2e-programs
	$(srcdir)/tests/e2e/run.sh -b $(abs_top_builddir) $(E2E_FLAGS)
