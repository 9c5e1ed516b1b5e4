# The test suite speaks TAP; each case counts. A case ends after a minute, times what tests/lib/timed.sh says.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)' builddir='$(builddir)' top_builddir='$(top_builddir)'; \
	CK_DEFAULT_TIMEOUT=60; sysconfdir='$(sysconfdir)'; \
	export srcdir builddir top_builddir CK_DEFAULT_TIMEOUT sysconfdir;

# What a program links that says nothing else, who uses before what it uses. Of an archive the linker takes what is asked
# for, so no test has more of the daemon than it calls. A list of tests may have a FIXTURE, which comes first: archives with
# names that something else here has, too.
FIXTURE =
LDADD = $(FIXTURE) tests/unit/libunit.a tests/sim/librig.a tests/nfs/librows.a tests/fuzz/libfuzz.a tests/lib/libtest.a \
	daemon/ctl/libctl.a $(DAEMON_LIBS) $(CHECK_LIBS)

check_LIBRARIES += tests/lib/libtest.a
tests_lib_libtest_a_SOURCES = tests/lib/certificate.c tests/lib/certificate.h tests/lib/fake_loop.c tests/lib/fake_loop.h \
	tests/lib/fake_runner.c tests/lib/fake_runner.h \
	tests/lib/gss_call.c tests/lib/gss_call.h tests/lib/header_same.c tests/lib/header_same.h tests/lib/hex.c tests/lib/hex.h \
	tests/lib/namespace.c tests/lib/namespace.h tests/lib/random.c tests/lib/random.h \
	tests/lib/sim/sim.c tests/lib/sim/sim.h tests/lib/sim/sim_ep.c tests/lib/sim/sim_key.c tests/lib/sim/sim_net.c \
	tests/lib/sim/sim_priv.h tests/lib/sim/sim_wr.c tests/lib/stream_pair.c tests/lib/stream_pair.h \
	tests/lib/test.c tests/lib/test.h \
	tests/lib/test_budget.c tests/lib/test_budget.h \
	tests/lib/time_limit.c tests/lib/time_limit.h \
	tests/lib/tls_files.c tests/lib/tls_files.h
# In the place of functions of the NFS binding.
check_LIBRARIES += tests/lib/libfakenfs.a
tests_lib_libfakenfs_a_SOURCES = tests/lib/fake_nfs.c tests/lib/fake_nfs.h
EXTRA_DIST += tests/lib/certificates.sh tests/lib/debian.sh tests/lib/mtab.sh tests/lib/root.sh tests/lib/tap.sh tests/lib/time_limit.sh tests/README.md tests/REQUIREMENTS.md

check_PROGRAMS += tests/lib/json_at tests/lib/time_limit
tests_lib_json_at_LDADD = $(JANSSON_LIBS)

# Each test of `make check` runs under a limit, and its time is noted in tests/times.
LOG_COMPILER = bash $(srcdir)/tests/lib/timed.sh
SH_LOG_COMPILER = $(LOG_COMPILER)
CLEANFILES += tests/times tests/factor
EXTRA_DIST += tests/lib/repeat.sh tests/lib/stages.sh tests/lib/timed.sh

# Sanitizers find things in programs. The scripts compare texts, and what programs print, with something else: they run
# once, in a build without sanitizers, for which they need these programs.
PROGRAM_LOGS = $(addsuffix .log,$(filter-out %.sh,$(TESTS)))
SCRIPT_LOGS = $(addsuffix .log,$(basename $(filter %.sh,$(TESTS))))
programs_of_scripts = tests/docs/print_tables tests/judge/judge tests/judge/make_capture tests/lab/fabric_pair \
	tests/lib/json_at tests/lib/time_limit tests/nfs/write_pcap tests/nfs/write_rebuilt tests/unit/header_pcap \
	tests/unit/print_states tests/unit/rpcgen_filter
list-tests:
	@printf '%s\n' $(TESTS)
script-programs: all
	$(MAKE) $(AM_MAKEFLAGS) $(programs_of_scripts)
check-programs: all
	$(MAKE) $(AM_MAKEFLAGS) $(check_LIBRARIES) $(check_PROGRAMS)
# In make distcheck those that read files beside themselves, which the archive may lack.
FILE_LOGS = $(addsuffix .log,$(basename $(filter %.sh,$(TESTS))) $(FUZZ_TARGETS) \
	tests/unit/test_answers tests/unit/test_config)
