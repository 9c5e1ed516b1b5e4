# The end-to-end tests: `make check-e2e` builds their programs and runs them. They need NFS-Ganesha, libnfs,
# tshark and root, so `make check` leaves them alone; `./dev test` runs them.
E2E_PROGRAMS = tests/e2e/nfs_client
E2E_LIBRARIES =
E2E_SCRIPTS = tests/e2e/run.sh tests/e2e/lib.sh tests/e2e/TESTS \
	tests/e2e/bulk_data.sh \
	tests/e2e/big_directory.sh \
	tests/e2e/every_size.sh \
	tests/e2e/twenty_clients.sh
EXTRA_PROGRAMS = $(E2E_PROGRAMS)
EXTRA_DIST += $(E2E_SCRIPTS)
CLEANFILES += $(E2E_PROGRAMS) $(E2E_LIBRARIES)

tests_e2e_nfs_client_SOURCES = tests/e2e/nfs_client.c
tests_e2e_nfs_client_CFLAGS = $(AM_CFLAGS) $(LIBNFS_CFLAGS)
tests_e2e_nfs_client_LDADD = $(LIBNFS_LIBS)

e2e-programs: all $(E2E_PROGRAMS) $(E2E_LIBRARIES)
check-e2e: e2e-programs
	$(srcdir)/tests/e2e/run.sh -b $(abs_top_builddir) $(E2E_FLAGS)
.PHONY: e2e-programs check-e2e
