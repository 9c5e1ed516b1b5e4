# What measures. Only a look at whether it runs is a test (tests/e2e/instructions_counted.sh, crowd.sh, receive_sizes.sh there).
EXTRA_PROGRAMS += tests/bench/rpc_load tests/bench/crowd
EXTRA_DIST += tests/bench/README.md tests/bench/instructions.sh tests/bench/crowd.sh tests/bench/receive_sizes.sh

tests_bench_rpc_load_SOURCES = tests/bench/rpc_load.c tests/bench/work.c tests/bench/work.h \
	tests/e2e/message.c tests/e2e/message.h tests/e2e/net.c tests/e2e/net.h
tests_bench_rpc_load_LDADD =

tests_bench_crowd_SOURCES = tests/bench/crowd.c \
	tests/e2e/message.c tests/e2e/message.h tests/e2e/net.c tests/e2e/net.h
tests_bench_crowd_LDADD =
