# The manual agrees with the programs.
check_PROGRAMS += tests/docs/print_tables
tests_docs_print_tables_SOURCES = tests/docs/print_tables.c
tests_docs_print_tables_LDADD = $(DAEMON_LIBS)
TESTS += tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh
EXTRA_DIST += tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh
