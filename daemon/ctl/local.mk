# The control client: all but main() in a library, so that tests link what ships.
noinst_LIBRARIES += daemon/ctl/libctl.a
daemon_ctl_libctl_a_CFLAGS = $(PROJECT_CFLAGS) $(JANSSON_CFLAGS) $(LIBCONFIG_CFLAGS)
daemon_ctl_libctl_a_SOURCES = \
	daemon/ctl/call_totals.c \
	daemon/ctl/call_totals.h \
	daemon/ctl/local_capture.c \
	daemon/ctl/pcapng_verify.c \
	daemon/ctl/pcapng_verify.h \
	daemon/ctl/json_cells.c \
	daemon/ctl/json_cells.h \
	daemon/ctl/client.c \
	daemon/ctl/client.h \
	daemon/ctl/connection_details.c \
	daemon/ctl/connection_details.h \
	daemon/ctl/ctl_error.c \
	daemon/ctl/ctl_error.h \
	daemon/ctl/plugin_line.c \
	daemon/ctl/plugin_line.h \
	daemon/ctl/problem_lines.c \
	daemon/ctl/problem_lines.h \
	daemon/ctl/server_lines.c \
	daemon/ctl/server_lines.h \
	daemon/ctl/options.c \
	daemon/ctl/options.h \
	daemon/ctl/local_commands.h \
	daemon/ctl/render.c \
	daemon/ctl/render.h \
	daemon/ctl/render_connections.c \
	daemon/ctl/render_latency.c \
	daemon/ctl/render_services.c \
	daemon/ctl/render_stats.c \
	daemon/ctl/render_status.c \
	daemon/ctl/render_trace.c \
	daemon/ctl/redact.c \
	daemon/ctl/redact.h \
	daemon/ctl/support_bundle.c \
	daemon/ctl/table.c \
	daemon/ctl/table.h \
	daemon/ctl/tty.c \
	daemon/ctl/tty.h \
	daemon/ctl/top.c \
	daemon/ctl/top_render.c \
	daemon/ctl/top_render.h \
	daemon/ctl/top_rows.c \
	daemon/ctl/top_rows.h \
	daemon/ctl/top_view.c \
	daemon/ctl/top_view.h \
	daemon/ctl/local_trace.c

sbin_PROGRAMS += daemon/ctl/rpcrdma-proxyctl
daemon_ctl_rpcrdma_proxyctl_SOURCES = daemon/ctl/main.c
daemon_ctl_rpcrdma_proxyctl_CFLAGS = $(PROJECT_CFLAGS) $(JANSSON_CFLAGS)
daemon_ctl_rpcrdma_proxyctl_LDADD = daemon/ctl/libctl.a daemon/libdaemon.a lib/nfs/libnfs-binding.a \
	$(JANSSON_LIBS) $(LIBCONFIG_LIBS)
