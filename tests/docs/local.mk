# The manual and the alerts agree with the programs.
check_PROGRAMS += tests/docs/print_tables
TESTS += tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh tests/docs/alerts.sh
EXTRA_DIST += tests/docs/alerts.test.yml tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh tests/docs/alerts.sh
