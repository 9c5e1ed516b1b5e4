# The pages name the configuration file of the daemon in configure's sysconfdir, as the unit does.
man_MANS += man/rpcrdma-proxy.8 man/rpcrdma-proxyctl.8 man/rpcrdma-proxy.conf.5
EXTRA_DIST += man/rpcrdma-proxy.8.in man/rpcrdma-proxyctl.8.in man/rpcrdma-proxy.conf.5.in
CLEANFILES += $(man_MANS)

noinst_PROGRAMS += man/gen_conf_man
man_gen_conf_man_SOURCES = man/gen_conf_man.c
man_gen_conf_man_CFLAGS = $(daemon_libdaemon_a_CFLAGS)
man_gen_conf_man_LDADD = $(DAEMON_LIBS)

man/rpcrdma-proxy.8: man/rpcrdma-proxy.8.in
man/rpcrdma-proxyctl.8: man/rpcrdma-proxyctl.8.in
man/rpcrdma-proxy.conf.5: man/rpcrdma-proxy.conf.5.in man/gen_conf_man$(EXEEXT)
$(man_MANS): Makefile

man/rpcrdma-proxy.8 man/rpcrdma-proxyctl.8:
	@$(MKDIR_P) man
	$(AM_V_GEN)$(SED) -e 's,@sysconfdir\@,$(sysconfdir),g' -e 's,@sbindir\@,$(sbindir),g' $(srcdir)/$@.in >$@

# gen_conf_man adds the type, limits and default of each key from the table of keys.
man/rpcrdma-proxy.conf.5:
	@$(MKDIR_P) man
	$(AM_V_GEN)$(SED) -e 's,@sysconfdir\@,$(sysconfdir),g' -e 's,@docdir\@,$(docdir),g' $(srcdir)/$@.in | man/gen_conf_man >$@.new
	@mv $@.new $@
