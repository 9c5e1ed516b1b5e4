# The unit and its user.
EXTRA_DIST += systemd/rpcrdma-proxy.service.in systemd/rpcrdma-proxy.sysusers
CLEANFILES += systemd/rpcrdma-proxy.service systemd/rpcrdma-proxy.conf

systemdsystemunit_DATA = systemd/rpcrdma-proxy.service
systemd/rpcrdma-proxy.service: systemd/rpcrdma-proxy.service.in Makefile
	@$(MKDIR_P) systemd
	$(AM_V_GEN)$(SED) -e 's,@sbindir\@,$(sbindir),g' -e 's,@bindir\@,$(bindir),g' -e 's,@sysconfdir\@,$(sysconfdir),g' \
		$(srcdir)/systemd/rpcrdma-proxy.service.in >$@

sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = systemd/rpcrdma-proxy.conf
systemd/rpcrdma-proxy.conf: systemd/rpcrdma-proxy.sysusers Makefile
	@$(MKDIR_P) systemd
	$(AM_V_GEN)cp $(srcdir)/systemd/rpcrdma-proxy.sysusers $@
