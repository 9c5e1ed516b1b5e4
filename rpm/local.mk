# What rpmbuild makes a package of: `rpmbuild -ta` takes the archive of `make dist`, and finds the file in it.
EXTRA_DIST += rpm/rpcrdma-proxy.spec
