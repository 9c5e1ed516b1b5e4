# All of the daemon but main(), so that tests link what ships.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_CFLAGS = $(PROJECT_CFLAGS) $(LIBEVENT_CFLAGS) $(LIBCONFIG_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(JANSSON_CFLAGS)
daemon_libdaemon_a_SOURCES = \
	daemon/base/address.c \
	daemon/base/address.h \
	daemon/base/host_limits.c \
	daemon/base/host_limits.h \
	daemon/base/humanize.c \
	daemon/base/humanize.h \
	daemon/base/background.c \
	daemon/base/background.h \
	daemon/base/clock.h \
	daemon/base/job_threads.c \
	daemon/base/job_threads.h \
	daemon/base/memlock.c \
	daemon/base/memlock.h \
	daemon/base/edit_distance.c \
	daemon/base/edit_distance.h \
	daemon/base/log.c \
	daemon/base/log.h \
	daemon/base/log_format.c \
	daemon/base/log_format.h \
	daemon/base/log_writer.c \
	daemon/base/log_writer.h \
	daemon/base/loop.c \
	daemon/base/loop.h \
	daemon/base/resolve_all.c \
	daemon/base/resolve_all.h \
	daemon/base/min_heap.c \
	daemon/base/min_heap.h \
	daemon/base/resolver.c \
	daemon/base/resolver.h \
	daemon/base/sd_notify.c \
	daemon/base/sd_notify.h \
	daemon/base/socket_activation.c \
	daemon/base/socket_activation.h \
	daemon/base/thread.c \
	daemon/base/thread.h \
	daemon/bridge/bridge.c \
	daemon/bridge/bridge.h \
	daemon/bridge/bridge_state.c \
	daemon/bridge/bridge_state.h \
	daemon/bridge/bridge_iter.c \
	daemon/bridge/bridge_iter.h \
	daemon/bridge/late_call_scan.c \
	daemon/bridge/late_call_scan.h \
	daemon/bridge/call_trace.c \
	daemon/bridge/call_trace.h \
	daemon/bridge/bridge_close.c \
	daemon/bridge/bridge_close.h \
	daemon/bridge/bridge_open.c \
	daemon/bridge/bridge_open.h \
	daemon/bridge/bridge_forward.c \
	daemon/bridge/bridge_forward.h \
	daemon/bridge/bridge_affinity.c \
	daemon/bridge/bridge_affinity.h \
	daemon/bridge/bridge_route.c \
	daemon/bridge/bridge_route.h \
	daemon/bridge/bridge_tls.c \
	daemon/bridge/bridge_tls.h \
	daemon/bridge/bridge_limits.c \
	daemon/bridge/bridge_limits.h \
	daemon/bridge/reply_delivery.c \
	daemon/bridge/reply_delivery.h \
	daemon/config/config.c \
	daemon/config/config.h \
	daemon/config/config_check.c \
	daemon/config/config_check.h \
	daemon/config/config_cidr.c \
	daemon/config/config_cidr.h \
	daemon/config/config_keys.c \
	daemon/config/config_keys.h \
	daemon/config/config_limits.c \
	daemon/config/config_limits.h \
	daemon/config/config_load.c \
	daemon/config/config_memory.c \
	daemon/config/config_memory.h \
	daemon/config/config_parse.c \
	daemon/config/config_parse.h \
	daemon/config/config_preset.c \
	daemon/config/config_preset.h \
	daemon/config/config_print.c \
	daemon/config/config_print.h \
	daemon/config/config_read.c \
	daemon/config/config_read.h \
	daemon/config/transparent_routes.c \
	daemon/config/transparent_routes.h \
	daemon/config/config_diff.c \
	daemon/config/config_diff.h \
	daemon/config/config_services.c \
	daemon/config/config_services.h \
	daemon/config/config_tls.c \
	daemon/config/config_tls.h \
	daemon/config/config_value.c \
	daemon/config/config_value.h \
	daemon/config/config_warn.c \
	daemon/config/self_connect.c \
	daemon/config/self_connect.h \
	daemon/config/syntax/hint.c \
	daemon/config/syntax/hint.h \
	daemon/config/syntax/tokens.c \
	daemon/config/syntax/tokens.h \
	daemon/control/cmd_actions.c \
	daemon/control/cmd_actions.h \
	daemon/control/cmd_capture.c \
	daemon/control/control.c \
	daemon/control/control.h \
	daemon/control/control_request.c \
	daemon/control/control_request.h \
	daemon/control/stream_client.c \
	daemon/control/stream_client.h \
	daemon/control/cmd_table.c \
	daemon/control/cmd_table.h \
	daemon/control/cmd_trace.c \
	daemon/control/tap_stream.c \
	daemon/control/tap_stream.h \
	daemon/health/check_report.c \
	daemon/health/check_report.h \
	daemon/health/check_steps.c \
	daemon/health/check_steps.h \
	daemon/health/health.c \
	daemon/health/health.h \
	daemon/health/check_mount.c \
	daemon/health/check_mount.h \
	daemon/health/check_conn.c \
	daemon/health/check_conn.h \
	daemon/health/check_rpc.c \
	daemon/health/check_rpc.h \
	daemon/http/http.c \
	daemon/http/http.h \
	daemon/http/http_host.c daemon/http/http_host.h \
	daemon/http/http_server.c \
	daemon/http/http_server.h \
	daemon/http/metrics_table.c \
	daemon/http/metrics_table.h \
	daemon/http/metrics_text.c \
	daemon/http/metrics_text.h \
	daemon/http/readiness.c \
	daemon/http/readiness.h \
	daemon/proxy/accept.c \
	daemon/proxy/accept.h \
	daemon/proxy/listener_inherit.c \
	daemon/proxy/listener_inherit.h \
	daemon/proxy/accept_queue.c \
	daemon/proxy/accept_queue.h \
	daemon/proxy/startup_warnings.c \
	daemon/proxy/startup_warnings.h \
	daemon/proxy/health_timer.c \
	daemon/proxy/health_timer.h \
	daemon/proxy/proxy.c \
	daemon/proxy/proxy.h \
	daemon/proxy/problems.c \
	daemon/proxy/problems.h \
	daemon/proxy/proxy_priv.h \
	daemon/proxy/proxy_service.c \
	daemon/proxy/proxy_service.h \
	daemon/proxy/reload.c \
	daemon/proxy/reload.h \
	daemon/proxy/tap_attach.c \
	daemon/proxy/tap_attach.h \
	daemon/proxy/watchdog.c \
	daemon/proxy/watchdog.h \
	daemon/proxy/worker.c \
	daemon/proxy/worker.h \
	daemon/proxy/worker_select.c \
	daemon/proxy/worker_select.h \
	daemon/proxy/reader.c \
	daemon/proxy/reader.h \
	daemon/proxy/rpcbind_sync.c \
	daemon/proxy/rpcbind_sync.h \
	daemon/rpcbind/rpcb_getaddr.c \
	daemon/rpcbind/rpcb_getaddr.h \
	daemon/rpcbind/rpcb_client.c \
	daemon/rpcbind/rpcb_client.h \
	daemon/rpcbind/rpcb_xdr.c \
	daemon/rpcbind/rpcb_xdr.h \
	daemon/service/backend.c \
	daemon/service/backend.h \
	daemon/service/call_fingerprint.c \
	daemon/service/call_fingerprint.h \
	daemon/service/call_stats.c \
	daemon/service/call_stats.h \
	daemon/service/client_limits.c \
	daemon/service/client_limits.h \
	daemon/service/client_owner.h \
	daemon/service/client_index.c \
	daemon/service/client_index.h \
	daemon/service/client_affinity.c \
	daemon/service/client_affinity.h \
	daemon/service/close_reason_text.c \
	daemon/service/close_reason_text.h \
	daemon/service/client_events.c \
	daemon/service/client_events.h \
	daemon/service/conn_limits.c \
	daemon/service/conn_limits.h \
	daemon/service/listen_error.c \
	daemon/service/listen_error.h \
	daemon/service/accepted_conn.c \
	daemon/service/accepted_conn.h \
	daemon/service/late_calls.c \
	daemon/service/late_calls.h \
	daemon/service/listen_names.c \
	daemon/service/listen_names.h \
	daemon/service/listener.c \
	daemon/service/listener.h \
	daemon/service/tls_limits.c \
	daemon/service/tls_limits.h \
	daemon/service/tarpit.c \
	daemon/service/tarpit.h \
	daemon/service/mountd_cache.c \
	daemon/service/mountd_cache.h \
	daemon/service/accept_filter.c \
	daemon/service/accept_filter.h \
	daemon/service/dns_cache.c \
	daemon/service/dns_cache.h \
	daemon/service/service_condition.c \
	daemon/service/service_condition.h \
	daemon/service/server_health.c \
	daemon/service/server_health.h \
	daemon/service/service.c \
	daemon/service/service.h \
	daemon/service/service_tls.c \
	daemon/service/service_tls.h \
	daemon/service/service_net.c \
	daemon/service/service_net.h \
	daemon/service/servers.c \
	daemon/service/servers.h \
	daemon/service/worker_service.c \
	daemon/service/worker_service.h \
	daemon/tap/pcap_capture.c \
	daemon/tap/pcap_capture.h \
	daemon/tap/pcapng.c \
	daemon/tap/pcapng.h \
	daemon/tap/pcap_tcp.c \
	daemon/tap/pcap_tcp.h \
	daemon/tap/tap.c \
	daemon/tap/tap.h \
	daemon/tap/tap_event.h \
	daemon/tap/tap_request.c \
	daemon/tap/tap_request.h \
	daemon/upstream/connect_plan.c \
	daemon/upstream/connect_plan.h \
	daemon/upstream/held_port.h \
	daemon/upstream/leg_factory.c \
	daemon/upstream/leg_factory.h \
	daemon/upstream/source_addr.c \
	daemon/upstream/source_addr.h \
	daemon/upstream/upstream_connect.c \
	daemon/upstream/upstream_connect.h \
	daemon/view/answer.c \
	daemon/view/answer.h \
	daemon/view/snapshot_collect.c \
	daemon/view/snapshot_collect.h \
	daemon/view/snapshot.c \
	daemon/view/snapshot.h \
	daemon/view/problems_json.c \
	daemon/view/problems_json.h \
	daemon/view/stats.c \
	daemon/view/stats.h

# Made by make, so that it has the same file as the unit and the manual, also when configure is run again.
nodist_daemon_libdaemon_a_SOURCES = daemon/base/paths.h
EXTRA_DIST += daemon/base/paths.h.in
BUILT_SOURCES += daemon/base/paths.h
CLEANFILES += daemon/base/paths.h
daemon/base/paths.h: daemon/base/paths.h.in Makefile
	@$(MKDIR_P) daemon/base
	$(AM_V_GEN)$(SED) -e 's,@sysconfdir\@,$(sysconfdir),g' -e 's,@docdir\@,$(docdir),g' $(srcdir)/daemon/base/paths.h.in >daemon/base/paths.h

# The page, as a C string.
nodist_daemon_libdaemon_a_SOURCES += daemon/http/page_html.h
EXTRA_DIST += daemon/http/page.html
BUILT_SOURCES += daemon/http/page_html.h
CLEANFILES += daemon/http/page_html.h
daemon/http/page_html.h: daemon/http/page.html
	@$(MKDIR_P) daemon/http
	$(AM_V_GEN)$(SED) -e 's,[\\"],\\&,g; s,^,",; s,$$,\\n",' $(srcdir)/daemon/http/page.html >$@.new && mv $@.new $@

DAEMON_LIBS = daemon/libdaemon.a $(PROTOCOL_LIBS) $(LIBEVENT_LIBS) $(LIBCONFIG_LIBS) \
	$(SYSTEMD_LIBS) $(JANSSON_LIBS)

sbin_PROGRAMS += daemon/rpcrdma-proxy
daemon_rpcrdma_proxy_SOURCES = daemon/main.c
daemon_rpcrdma_proxy_CFLAGS = $(daemon_libdaemon_a_CFLAGS)
daemon_rpcrdma_proxy_LDADD = $(DAEMON_LIBS)
