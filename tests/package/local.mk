# What is installed, from the package: ./dev test runs them.
EXTRA_DIST += tests/package/deb.sh tests/package/installed.sh tests/package/container.sh tests/package/daemonset.sh \
	tests/package/manifest.py tests/package/release.sh tests/package/in_release.sh tests/package/rpm.sh \
	tests/package/rpm.macros
