# The control client: all but main() in a library, so that tests link what ships.
noinst_LIBRARIES += daemon/ctl/libctl.a
daemon_ctl_libctl_a_CFLAGS = $(PROJECT_CFLAGS) $(JANSSON_CFLAGS) $(LIBCONFIG_CFLAGS)
daemon_ctl_libctl_a_SOURCES = \
	daemon/ctl/call_sums.c \
	daemon/ctl/call_sums.h \
	daemon/ctl/capture.c \
	daemon/ctl/capture_tally.c \
	daemon/ctl/capture_tally.h \
	daemon/ctl/cells.c \
	daemon/ctl/cells.h \
	daemon/ctl/client.c \
	daemon/ctl/client.h \
	daemon/ctl/complain.c \
	daemon/ctl/complain.h \
	daemon/ctl/news.c \
	daemon/ctl/news.h \
	daemon/ctl/options.c \
	daemon/ctl/options.h \
	daemon/ctl/own_commands.h \
	daemon/ctl/render.c \
	daemon/ctl/render.h \
	daemon/ctl/render_connections.c \
	daemon/ctl/render_latency.c \
	daemon/ctl/render_services.c \
	daemon/ctl/render_stats.c \
	daemon/ctl/render_status.c \
	daemon/ctl/render_trace.c \
	daemon/ctl/secrets.c \
	daemon/ctl/secrets.h \
	daemon/ctl/support.c \
	daemon/ctl/table.c \
	daemon/ctl/table.h \
	daemon/ctl/terminal.c \
	daemon/ctl/terminal.h \
	daemon/ctl/top.c \
	daemon/ctl/top_render.c \
	daemon/ctl/top_render.h \
	daemon/ctl/top_rows.c \
	daemon/ctl/top_rows.h \
	daemon/ctl/top_view.c \
	daemon/ctl/top_view.h \
	daemon/ctl/trace.c

sbin_PROGRAMS += daemon/ctl/rpcrdma-proxyctl
daemon_ctl_rpcrdma_proxyctl_SOURCES = daemon/ctl/rpcrdma-proxyctl.c
daemon_ctl_rpcrdma_proxyctl_CFLAGS = $(PROJECT_CFLAGS) $(JANSSON_CFLAGS)
daemon_ctl_rpcrdma_proxyctl_LDADD = daemon/ctl/libctl.a daemon/libdaemon.a lib/nfs/libnfs-binding.a \
	$(JANSSON_LIBS) $(LIBCONFIG_LIBS)
