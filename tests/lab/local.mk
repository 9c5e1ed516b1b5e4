# The laboratory runs by itself (tests/lab/run.sh), not in `make check`: it takes minutes.
EXTRA_DIST += \
	tests/lab/boot.sh \
	tests/lab/build.sh \
	tests/lab/guest/direct.sh \
	tests/lab/guest/iwarp.sh \
	tests/lab/guest/lib.sh \
	tests/lab/guest/rows.sh \
	tests/lab/guest/workload.sh \
	tests/lab/host.sh \
	tests/lab/proxy.sh \
	tests/lab/results.sh \
	tests/lab/run.sh
