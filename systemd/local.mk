# The unit, its user, and the directory of its socket.
EXTRA_DIST += systemd/rpcrdma-proxy.service.in systemd/source-client.conf systemd/rpcrdma-proxy.sysusers systemd/rpcrdma-proxy.tmpfiles
CLEANFILES += systemd/rpcrdma-proxy.service systemd/sysusers/rpcrdma-proxy.conf systemd/tmpfiles/rpcrdma-proxy.conf

systemdsystemunit_DATA = systemd/rpcrdma-proxy.service
systemd/rpcrdma-proxy.service: systemd/rpcrdma-proxy.service.in Makefile
	@$(MKDIR_P) systemd
	$(AM_V_GEN)$(SED) -e 's,@sbindir\@,$(sbindir),g' -e 's,@sysconfdir\@,$(sysconfdir),g' \
		$(srcdir)/systemd/rpcrdma-proxy.service.in >$@

# Optional drop-ins for the unit, and examples for monitoring.
examplesdir = $(docdir)/examples
examples_DATA = systemd/source-client.conf contrib/grafana/rpcrdma-proxy.json contrib/prometheus/rpcrdma-proxy.rules.yml

# Both files have the same name when installed, so each has its own directory here.
sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = systemd/sysusers/rpcrdma-proxy.conf
systemd/sysusers/rpcrdma-proxy.conf: systemd/rpcrdma-proxy.sysusers Makefile
	@$(MKDIR_P) systemd/sysusers
	$(AM_V_GEN)cp $(srcdir)/systemd/rpcrdma-proxy.sysusers $@

tmpfilesdir = $(prefix)/lib/tmpfiles.d
tmpfiles_DATA = systemd/tmpfiles/rpcrdma-proxy.conf
systemd/tmpfiles/rpcrdma-proxy.conf: systemd/rpcrdma-proxy.tmpfiles Makefile
	@$(MKDIR_P) systemd/tmpfiles
	$(AM_V_GEN)cp $(srcdir)/systemd/rpcrdma-proxy.tmpfiles $@
