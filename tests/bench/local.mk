# What measures. Only a quick look at whether it runs is a test (tests/e2e/instructions_counted.sh).
EXTRA_PROGRAMS += tests/bench/rpc_load
EXTRA_DIST += tests/bench/README.md tests/bench/instructions.sh

tests_bench_rpc_load_SOURCES = tests/bench/rpc_load.c tests/bench/work.c tests/bench/work.h \
	tests/e2e/message.c tests/e2e/message.h tests/e2e/net.c tests/e2e/net.h
tests_bench_rpc_load_LDADD =
