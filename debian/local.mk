# Input of Debian's packaging tools.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/rpcrdma-proxy.docs debian/rpcrdma-proxy.examples \
	debian/rpcrdma-proxy.postinst debian/rules \
	debian/source/format debian/tests/control debian/tests/demo
