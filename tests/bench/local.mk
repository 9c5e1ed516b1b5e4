# What measures. But for what repeats exactly (costs.sh and the instructions of reverse Calls), only a look at whether it
# runs is a test (costs.sh, instructions_counted.sh, bench.sh, crowd.sh, receive_sizes.sh, bench_programs.sh in tests/e2e).
EXTRA_PROGRAMS += tests/bench/rpc_load tests/bench/reverse_mix \
	tests/bench/rpc_replay tests/bench/engine_replay \
	tests/bench/nfs_serve tests/bench/nfs_load tests/bench/copy_proxy
EXTRA_DIST += tests/bench/README.md tests/bench/load.sh tests/bench/instructions.sh tests/bench/device_instructions.sh \
	tests/bench/receive_sizes.sh tests/bench/reverse_instructions.sh tests/bench/profile.sh tests/bench/calls.sh \
	tests/bench/costs.sh tests/bench/costs.awk tests/bench/recorded.txt

# The comparison with others, and the report that is made of it.
EXTRA_DIST += tests/bench/bench.sh tests/bench/contenders.sh tests/bench/rows.sh tests/bench/sampling.sh \
	tests/bench/machine.sh \
	tests/bench/report/__main__.py tests/bench/report/samples.py tests/bench/report/aims.py \
	tests/bench/report/words.py tests/bench/report/table.py tests/bench/report/plot.py \
	tests/bench/report/page.py tests/bench/report/style.py \
	tests/bench/report/names.py tests/bench/report/paper.py tests/bench/report/stacks.py \
	tests/bench/report/unit/run.sh tests/bench/report/unit/run.py tests/bench/report/unit/made.py \
	tests/bench/report/unit/test_samples.py tests/bench/report/unit/test_aims.py \
	tests/bench/report/unit/test_page.py tests/bench/report/unit/test_names.py \
	tests/bench/report/unit/test_paper.py tests/bench/report/unit/test_stacks.py
TESTS += tests/bench/report/unit/run.sh
bench-programs: all
	$(MAKE) $(AM_MAKEFLAGS) tests/bench/nfs_load tests/bench/nfs_serve tests/bench/copy_proxy

# Messages of NFSv3, record by record, and when and how long. It links nothing of the proxy.
check_LIBRARIES += tests/bench/libload.a
tests_bench_libload_a_SOURCES = \
	tests/bench/arrivals.c tests/bench/arrivals.h \
	tests/bench/file_data.c tests/bench/file_data.h \
	tests/bench/latency.c tests/bench/latency.h \
	tests/bench/nfs3.c tests/bench/nfs3.h \
	tests/bench/record_reader.c tests/bench/record_reader.h \
	tests/bench/send_queue.c tests/bench/send_queue.h \
	tests/bench/sockets.c tests/bench/sockets.h \
	tests/e2e/message.c tests/e2e/message.h tests/e2e/net.c tests/e2e/net.h \
	tests/lib/time_limit.c tests/lib/time_limit.h

tests_bench_rpc_load_SOURCES = tests/bench/rpc_load.c tests/bench/work.c tests/bench/work.h
tests_bench_rpc_load_LDADD = tests/bench/libload.a
tests_bench_nfs_serve_LDADD = tests/bench/libload.a
tests_bench_nfs_load_SOURCES = tests/bench/nfs_load.c tests/bench/flow.c tests/bench/flow.h tests/bench/load.c tests/bench/load.h
tests_bench_nfs_load_LDADD = tests/bench/libload.a
tests_bench_copy_proxy_LDADD = tests/bench/libload.a

tests_bench_reverse_mix_SOURCES = tests/bench/reverse_mix.c tests/bench/fixed_random.c
tests_bench_rpc_replay_SOURCES = tests/bench/rpc_replay.c tests/bench/measured.h tests/bench/fixed_random.c

# What the engine copies is counted in the place of the C library's functions.
tests_bench_engine_replay_SOURCES = tests/bench/engine_replay.c tests/bench/measured.h
tests_bench_engine_replay_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=memcpy,--wrap=memmove
tests_bench_engine_replay_LDADD = tests/lib/libtest.a $(PROTOCOL_LIBS) $(CHECK_LIBS)
