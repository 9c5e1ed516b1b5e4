# The pages name the file that the daemon reads: it follows from configure's sysconfdir, as in the unit.
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

# What the table of keys says of each, its values and its default, comes from there.
man/rpcrdma-proxy.conf.5:
	@$(MKDIR_P) man
	$(AM_V_GEN)$(SED) -e 's,@sysconfdir\@,$(sysconfdir),g' -e 's,@docdir\@,$(docdir),g' $(srcdir)/$@.in | man/gen_conf_man >$@.new
	@mv $@.new $@
