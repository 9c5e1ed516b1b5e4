# All of the daemon but main(), so that tests link what ships.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(LIBCONFIG_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(JANSSON_CFLAGS)
daemon_libdaemon_a_SOURCES =
daemon_libdaemon_a_SOURCES += daemon/address.c daemon/address.h
daemon_libdaemon_a_SOURCES += daemon/binding.c daemon/binding.h
daemon_libdaemon_a_SOURCES += daemon/bridge.c daemon/bridge.h
daemon_libdaemon_a_SOURCES += daemon/listener.c daemon/listener.h
daemon_libdaemon_a_SOURCES += daemon/proxy.c daemon/proxy.h
daemon_libdaemon_a_SOURCES += daemon/query.c daemon/query.h
daemon_libdaemon_a_SOURCES += daemon/worker.c daemon/worker.h
daemon_libdaemon_a_SOURCES += daemon/config.c daemon/config.h
daemon_libdaemon_a_SOURCES += daemon/config_keys.c daemon/config_keys.h
daemon_libdaemon_a_SOURCES += daemon/config_scan.c daemon/config_scan.h
daemon_libdaemon_a_SOURCES += daemon/config_value.c daemon/config_value.h
daemon_libdaemon_a_SOURCES += daemon/config_warn.c
daemon_libdaemon_a_SOURCES += daemon/log.c daemon/log.h
daemon_libdaemon_a_SOURCES += daemon/sd.c daemon/sd.h
daemon_libdaemon_a_SOURCES += daemon/stats.c daemon/stats.h
daemon_libdaemon_a_SOURCES += daemon/control.c daemon/control.h
daemon_libdaemon_a_SOURCES += daemon/control_request.c daemon/control_request.h
daemon_libdaemon_a_SOURCES += daemon/replay.c daemon/replay.h
daemon_libdaemon_a_SOURCES += daemon/resolver.c daemon/resolver.h
daemon_libdaemon_a_SOURCES += daemon/service.c daemon/service.h
daemon_libdaemon_a_SOURCES += daemon/loop.c daemon/loop.h
daemon_libdaemon_a_SOURCES += daemon/tcp_leg.c daemon/tcp_leg.h daemon/tcp_leg_impl.h \
	daemon/tcp_call.c daemon/tcp_connect.c daemon/tcp_input.c daemon/tcp_output.c

DAEMON_LIBS = daemon/libdaemon.a $(PROTOCOL_LIBS) $(LIBEVENT_LIBS) $(LIBCONFIG_LIBS) \
	$(SYSTEMD_LIBS) $(JANSSON_LIBS)

sbin_PROGRAMS += daemon/rpcrdma-proxy
daemon_rpcrdma_proxy_SOURCES = daemon/main.c
daemon_rpcrdma_proxy_CFLAGS = $(daemon_libdaemon_a_CFLAGS)
daemon_rpcrdma_proxy_LDADD = $(DAEMON_LIBS)
