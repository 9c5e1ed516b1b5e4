# The test suite speaks TAP; each case counts. A case ends after a minute, times what tests/lib/test.c measures.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)' builddir='$(builddir)' top_builddir='$(top_builddir)'; \
	CK_DEFAULT_TIMEOUT=60; sysconfdir='$(sysconfdir)'; \
	export srcdir builddir top_builddir CK_DEFAULT_TIMEOUT sysconfdir;

check_LIBRARIES += tests/lib/libtest.a
tests_lib_libtest_a_SOURCES = tests/lib/fake_loop.c tests/lib/fake_loop.h \
	tests/lib/header_same.c tests/lib/header_same.h tests/lib/hex.c tests/lib/hex.h \
	tests/lib/namespace.c tests/lib/namespace.h tests/lib/random.c tests/lib/random.h \
	tests/lib/test.c tests/lib/test.h \
	tests/lib/test_budget.c tests/lib/test_budget.h \
	tests/lib/time_limit.c tests/lib/time_limit.h
check_LIBRARIES += tests/lib/libfakenfs.a
tests_lib_libfakenfs_a_SOURCES = tests/lib/fake_nfs.c tests/lib/fake_nfs.h
EXTRA_DIST += tests/lib/mtab.sh tests/lib/tap.sh tests/lib/time_limit.sh tests/REQUIREMENTS.md

check_PROGRAMS += tests/lib/time_limit
tests_lib_time_limit_SOURCES = tests/lib/time_limit_main.c tests/lib/time_limit.c tests/lib/time_limit.h
tests_lib_time_limit_LDADD =
tests_lib_libtest_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LDADD = tests/lib/libtest.a $(PROTOCOL_LIBS) $(CHECK_LIBS)
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

# Under the sanitizers the programs alone: the scripts hold texts, and what programs print, against something else.
PROGRAM_LOGS = $(addsuffix .log,$(filter-out %.sh,$(TESTS)))
# In make distcheck those that read files beside themselves, which the archive may lack.
FILE_LOGS = $(addsuffix .log,$(basename $(filter %.sh,$(TESTS))) $(FUZZ_TARGETS) \
	tests/unit/test_answers tests/unit/test_config)
