check_PROGRAMS += tests/unit/test_budget
tests_unit_test_budget_SOURCES = tests/unit/test_budget.c
tests_unit_test_budget_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_budget_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_budget

check_PROGRAMS += tests/unit/test_replay
tests_unit_test_replay_SOURCES = tests/unit/test_replay.c
tests_unit_test_replay_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_replay_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_replay

check_PROGRAMS += tests/unit/test_event_loop
tests_unit_test_event_loop_SOURCES = tests/unit/test_event_loop.c
tests_unit_test_event_loop_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_event_loop_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_event_loop

check_PROGRAMS += tests/unit/test_address
tests_unit_test_address_SOURCES = tests/unit/test_address.c
tests_unit_test_address_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_address_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_address

check_PROGRAMS += tests/unit/test_resolver
tests_unit_test_resolver_SOURCES = tests/unit/test_resolver.c
tests_unit_test_resolver_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_resolver_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_resolver

check_PROGRAMS += tests/unit/test_config
tests_unit_test_config_SOURCES = tests/unit/test_config.c
tests_unit_test_config_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_config_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_config

check_PROGRAMS += tests/unit/test_record
tests_unit_test_record_SOURCES = tests/unit/test_record.c
tests_unit_test_record_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_record_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_record

check_PROGRAMS += tests/unit/test_log
tests_unit_test_log_SOURCES = tests/unit/test_log.c
tests_unit_test_log_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_log_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_log

check_PROGRAMS += tests/unit/test_stats
tests_unit_test_stats_SOURCES = tests/unit/test_stats.c
tests_unit_test_stats_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_stats_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_stats
