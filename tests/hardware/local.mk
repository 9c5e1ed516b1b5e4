# What ./dev hardware runs on hosts that have devices, and the tests of it that need none. A guest of the laboratory runs it on siw and rxe.
EXTRA_DIST += \
	tests/hardware/connections.sh \
	tests/hardware/data.sh \
	tests/hardware/device.sh \
	tests/hardware/faults.sh \
	tests/hardware/hardware.sh \
	tests/hardware/lib.sh \
	tests/hardware/networks.sh \
	tests/hardware/nfs_server.sh \
	tests/hardware/options.sh \
	tests/hardware/proxies.sh \
	tests/hardware/scrub.py \
	tests/hardware/scrubbed.sh
TESTS += tests/hardware/options.sh tests/hardware/scrubbed.sh
# What it runs.
hardware-programs: all
	$(MAKE) $(AM_MAKEFLAGS) tests/bench/nfs_load tests/bench/nfs_serve tests/lab/lab_work tests/lib/json_at tests/lib/time_limit
