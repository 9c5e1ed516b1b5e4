# The laboratory runs by itself (tests/lab/run.sh), not in `make check`: it takes minutes.
EXTRA_DIST += \
	tests/lab/README.md \
	tests/lab/RESULTS.md \
	tests/lab/boot.sh \
	tests/lab/build.sh \
	tests/lab/capture.sh \
	tests/lab/conformance.client \
	tests/lab/conformance.knfsd \
	tests/lab/conformance.sh \
	tests/lab/conformance.siw \
	tests/lab/conformance.verbs \
	tests/lab/fetch.sh \
	tests/lab/guest/chain.sh \
	tests/lab/guest/clients.sh \
	tests/lab/community.known tests/lab/guest/community.sh tests/lab/guest/differences.sh tests/lab/guest/programs.sh tests/lab/libnfs.sh \
	tests/lab/gateway_client.py tests/lab/guest/reexport.sh tests/lab/guest/reexport_state.sh \
	tests/lab/guest/configuration.sh \
	tests/lab/guest/conformance.sh \
	tests/lab/guest/counted.sh tests/lab/guest/instructions.sh tests/lab/guest/load_turns.sh \
	tests/lab/guest/direct.sh \
	tests/lab/guest/hardware.sh \
	tests/lab/guest/iwarp.sh \
	tests/lab/guest/kills.sh \
	tests/lab/guest/krb5.sh \
	tests/lab/guest/lib.sh \
	tests/lab/guest/mount.sh \
	tests/lab/guest/rows.sh \
	tests/lab/guest/second_mount.sh tests/lab/guest/servers.sh \
	tests/lab/guest/silent.sh \
	tests/lab/guest/standin.sh \
	tests/lab/guest/systemd.sh \
	tests/lab/guest/verbs.sh \
	tests/lab/guest/versions.sh tests/lab/guest/thresholds.sh tests/lab/guest/identity.sh \
	tests/lab/guest/workload.sh \
	tests/lab/guest/writeback.sh \
	tests/lab/host.sh \
	tests/lab/judging.sh \
	tests/lab/kernels.sh \
	tests/lab/proxy.sh \
	tests/lab/results.sh \
	tests/lab/run.sh \
	tests/lab/wait.sh \
	tests/lab/watch.sh

EXTRA_DIST += tests/lab/kernels_fetched.sh tests/lab/reconnects.sh tests/lab/community.sh
TESTS += tests/lab/kernels_fetched.sh tests/lab/reconnects.sh tests/lab/community.sh

# A guest runs it over its devices.
EXTRA_DIST += tests/lab/receive_sizes.sh
TESTS += tests/lab/receive_sizes.sh
check_PROGRAMS += tests/lab/fabric_pair
tests_lab_fabric_pair_SOURCES = tests/lab/fabric_pair.c tests/lab/pair.c tests/lab/pair.h \
	tests/lab/pair_connections.c tests/lab/pair_keys.c tests/lab/pair_legs.c tests/lab/pair_legs.h \
	tests/lab/pair_probes.c tests/lab/pair_sends.c tests/lab/pair_sizes.c tests/lab/pair_workers.c \
	tests/lib/time_limit.c tests/lib/time_limit.h \
	tests/lib/test_budget.c tests/lib/test_budget.h
tests_lab_fabric_pair_LDADD = $(DAEMON_LIBS)
check_PROGRAMS += tests/lab/lab_work
tests_lab_lab_work_SOURCES = tests/lab/lab_work.c tests/lab/lab_work.h \
	tests/lab/work_busy.c tests/lab/work_change.c tests/lab/work_load.c tests/lab/work_lock.c tests/lab/work_meter.c \
	tests/lib/time_limit.c tests/lib/time_limit.h
tests_lab_lab_work_LDADD =
lab-programs: all
	$(MAKE) $(AM_MAKEFLAGS) tests/lab/lab_work tests/lib/json_at tests/lib/time_limit tests/lab/fabric_pair tests/e2e/held_call tests/e2e/rpc_peer tests/judge/judge tests/bench/rpc_load tests/bench/nfs_load tests/bench/nfs_serve $(standin_preloads)
