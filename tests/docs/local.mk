# The manual agrees with the programs.
check_PROGRAMS += tests/docs/print_tables
TESTS += tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh
EXTRA_DIST += tests/docs/manual.sh tests/docs/install.sh tests/docs/completion.sh
