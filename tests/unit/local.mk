check_PROGRAMS += tests/unit/test_header
tests_unit_test_header_SOURCES = tests/unit/test_header.c
tests_unit_test_header_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_header

check_PROGRAMS += tests/unit/test_header_lists
tests_unit_test_header_lists_SOURCES = tests/unit/test_header_lists.c
tests_unit_test_header_lists_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_header_lists_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_header_lists

check_PROGRAMS += tests/unit/test_msg
tests_unit_test_msg_SOURCES = tests/unit/test_msg.c
tests_unit_test_msg_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_msg_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_msg

check_PROGRAMS += tests/unit/test_private_data
tests_unit_test_private_data_SOURCES = tests/unit/test_private_data.c
tests_unit_test_private_data_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_private_data_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_private_data

check_PROGRAMS += tests/unit/test_xdr
tests_unit_test_xdr_SOURCES = tests/unit/test_xdr.c
tests_unit_test_xdr_CFLAGS = $(UNIT_CFLAGS)
tests_unit_test_xdr_LDADD = $(UNIT_LDADD)
TESTS += tests/unit/test_xdr

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

check_PROGRAMS += tests/unit/test_control
tests_unit_test_control_SOURCES = tests/unit/test_control.c
tests_unit_test_control_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_control_LDADD = tests/lib/libtest.a $(DAEMON_LIBS) $(CHECK_LIBS)
TESTS += tests/unit/test_control
