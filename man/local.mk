dist_man_MANS += man/rpcrdma-proxy.8 man/rpcrdma-proxyctl.8 man/rpcrdma-proxy.conf.5
