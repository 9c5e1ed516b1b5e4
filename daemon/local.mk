# All of the daemon but main(), so that tests link what ships.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_CFLAGS = $(PROJECT_CFLAGS) $(LIBEVENT_CFLAGS) $(LIBCONFIG_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(JANSSON_CFLAGS)
daemon_libdaemon_a_SOURCES = \
	daemon/base/address.c \
	daemon/base/address.h \
	daemon/base/amount.c \
	daemon/base/amount.h \
	daemon/base/background.c \
	daemon/base/background.h \
	daemon/base/clock.h \
	daemon/base/host_memory.c \
	daemon/base/host_memory.h \
	daemon/base/likeness.c \
	daemon/base/likeness.h \
	daemon/base/log.c \
	daemon/base/log.h \
	daemon/base/log_line.c \
	daemon/base/log_line.h \
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
	daemon/base/sd.c \
	daemon/base/sd.h \
	daemon/base/sd_fds.c \
	daemon/base/sd_fds.h \
	daemon/base/thread.c \
	daemon/base/thread.h \
	daemon/bridge/bridge.c \
	daemon/bridge/bridge.h \
	daemon/bridge/bridge_state.c \
	daemon/bridge/bridge_state.h \
	daemon/bridge/bridge_walk.c \
	daemon/bridge/bridge_walk.h \
	daemon/bridge/call_watch.c \
	daemon/bridge/call_watch.h \
	daemon/bridge/call_tell.c \
	daemon/bridge/call_tell.h \
	daemon/bridge/closing.c \
	daemon/bridge/closing.h \
	daemon/bridge/opening.c \
	daemon/bridge/opening.h \
	daemon/bridge/passing.c \
	daemon/bridge/passing.h \
	daemon/bridge/returning.c \
	daemon/bridge/returning.h \
	daemon/bridge/routing.c \
	daemon/bridge/routing.h \
	daemon/bridge/standing.c \
	daemon/bridge/standing.h \
	daemon/bridge/taking.c \
	daemon/bridge/taking.h \
	daemon/config/config.c \
	daemon/config/config.h \
	daemon/config/config_check.c \
	daemon/config/config_check.h \
	daemon/config/config_cidr.c \
	daemon/config/config_cidr.h \
	daemon/config/config_keys.c \
	daemon/config/config_keys.h \
	daemon/config/config_load.c \
	daemon/config/config_memory.c \
	daemon/config/config_memory.h \
	daemon/config/config_parse.c \
	daemon/config/config_parse.h \
	daemon/config/config_print.c \
	daemon/config/config_print.h \
	daemon/config/config_read.c \
	daemon/config/config_read.h \
	daemon/config/config_routes.c \
	daemon/config/config_routes.h \
	daemon/config/config_same.c \
	daemon/config/config_same.h \
	daemon/config/config_services.c \
	daemon/config/config_services.h \
	daemon/config/config_value.c \
	daemon/config/config_value.h \
	daemon/config/config_warn.c \
	daemon/config/own_doors.c \
	daemon/config/own_doors.h \
	daemon/config/syntax/hint.c \
	daemon/config/syntax/hint.h \
	daemon/config/syntax/tokens.c \
	daemon/config/syntax/tokens.h \
	daemon/control/actions.c \
	daemon/control/actions.h \
	daemon/control/capture.c \
	daemon/control/control.c \
	daemon/control/control.h \
	daemon/control/control_request.c \
	daemon/control/control_request.h \
	daemon/control/feed.c \
	daemon/control/feed.h \
	daemon/control/query.c \
	daemon/control/query.h \
	daemon/control/trace.c \
	daemon/control/watching.c \
	daemon/control/watching.h \
	daemon/health/check_report.c \
	daemon/health/check_report.h \
	daemon/health/check_steps.c \
	daemon/health/check_steps.h \
	daemon/health/health.c \
	daemon/health/health.h \
	daemon/health/mount_trip.c \
	daemon/health/mount_trip.h \
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
	daemon/proxy/admission.c \
	daemon/proxy/admission.h \
	daemon/proxy/held_sockets.c \
	daemon/proxy/held_sockets.h \
	daemon/proxy/intake.c \
	daemon/proxy/intake.h \
	daemon/proxy/lacks.c \
	daemon/proxy/lacks.h \
	daemon/proxy/probing.c \
	daemon/proxy/probing.h \
	daemon/proxy/proxy.c \
	daemon/proxy/proxy.h \
	daemon/proxy/proxy_parts.h \
	daemon/proxy/proxy_service.c \
	daemon/proxy/proxy_service.h \
	daemon/proxy/reload.c \
	daemon/proxy/reload.h \
	daemon/proxy/tapping.c \
	daemon/proxy/tapping.h \
	daemon/proxy/watchdog.c \
	daemon/proxy/watchdog.h \
	daemon/proxy/worker.c \
	daemon/proxy/worker.h \
	daemon/proxy/worker_select.c \
	daemon/proxy/worker_select.h \
	daemon/proxy/reader.c \
	daemon/proxy/reader.h \
	daemon/proxy/registration.c \
	daemon/proxy/registration.h \
	daemon/rpcbind/port_query.c \
	daemon/rpcbind/port_query.h \
	daemon/rpcbind/registrar.c \
	daemon/rpcbind/registrar.h \
	daemon/rpcbind/rpcbind_message.c \
	daemon/rpcbind/rpcbind_message.h \
	daemon/service/backend.c \
	daemon/service/backend.h \
	daemon/service/call_mark.c \
	daemon/service/call_mark.h \
	daemon/service/call_stats.c \
	daemon/service/call_stats.h \
	daemon/service/client_counts.c \
	daemon/service/client_counts.h \
	daemon/service/client_owner.h \
	daemon/service/client_table.c \
	daemon/service/client_table.h \
	daemon/service/clients.c \
	daemon/service/clients.h \
	daemon/service/close_text.c \
	daemon/service/close_text.h \
	daemon/service/door.c \
	daemon/service/door.h \
	daemon/service/listen_error.c \
	daemon/service/listen_error.h \
	daemon/service/incoming.c \
	daemon/service/incoming.h \
	daemon/service/late_calls.c \
	daemon/service/late_calls.h \
	daemon/service/listen_names.c \
	daemon/service/listen_names.h \
	daemon/service/listener.c \
	daemon/service/listener.h \
	daemon/service/lobby.c \
	daemon/service/lobby.h \
	daemon/service/mount_desk.c \
	daemon/service/mount_desk.h \
	daemon/service/porch.c \
	daemon/service/porch.h \
	daemon/service/server_name.c \
	daemon/service/server_name.h \
	daemon/service/server_state.c \
	daemon/service/server_state.h \
	daemon/service/service.c \
	daemon/service/service.h \
	daemon/service/service_net.c \
	daemon/service/service_net.h \
	daemon/service/targets.c \
	daemon/service/targets.h \
	daemon/service/worker_service.c \
	daemon/service/worker_service.h \
	daemon/tap/capture.c \
	daemon/tap/capture.h \
	daemon/tap/pcapng.c \
	daemon/tap/pcapng.h \
	daemon/tap/rebuilt_tcp.c \
	daemon/tap/rebuilt_tcp.h \
	daemon/tap/tap.c \
	daemon/tap/tap.h \
	daemon/tap/tap_record.h \
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
	daemon/view/gather.c \
	daemon/view/gather.h \
	daemon/view/snapshot.c \
	daemon/view/snapshot.h \
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
