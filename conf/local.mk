# The configuration file. Install never overwrites an existing file.
EXTRA_DIST += conf/rpcrdma-proxy.conf

install-data-local: install-conf
install-conf:
	$(MKDIR_P) "$(DESTDIR)$(sysconfdir)"
	@if test -e "$(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf"; then \
		echo "$(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf stays as it is"; \
	else \
		echo "$(INSTALL_DATA) $(srcdir)/conf/rpcrdma-proxy.conf $(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf"; \
		$(INSTALL_DATA) $(srcdir)/conf/rpcrdma-proxy.conf "$(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf"; \
	fi

# Remove the file only if it is unchanged.
uninstall-local: uninstall-conf
uninstall-conf:
	@if cmp -s "$(srcdir)/conf/rpcrdma-proxy.conf" "$(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf"; then \
		rm -f "$(DESTDIR)$(sysconfdir)/rpcrdma-proxy.conf"; \
	fi

.PHONY: install-conf uninstall-conf
