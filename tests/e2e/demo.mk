# What `./dev demo` shows, and no more: `make demo-programs`. It needs libnfs, but nothing else of what tests need.
EXTRA_PROGRAMS = tests/e2e/nfs_client tests/lib/time_limit
tests_e2e_nfs_client_SOURCES = tests/e2e/nfs_client.c tests/lib/time_limit.c tests/lib/time_limit.h
tests_e2e_nfs_client_CFLAGS = $(AM_CFLAGS) $(LIBNFS_CFLAGS)
tests_e2e_nfs_client_LDADD = $(LIBNFS_LIBS)
tests_lib_time_limit_SOURCES = tests/lib/time_limit_main.c tests/lib/time_limit.c tests/lib/time_limit.h
tests_lib_time_limit_LDADD =

demo-programs: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) daemon/rpcrdma-proxy daemon/ctl/rpcrdma-proxyctl tests/e2e/nfs_client tests/lib/time_limit
