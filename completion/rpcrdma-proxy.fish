# SPDX-License-Identifier: BSD-3-Clause
# Fish completion of rpcrdma-proxy(8).
complete -c rpcrdma-proxy -f
complete -c rpcrdma-proxy -s c -r -F -d 'configuration file'
complete -c rpcrdma-proxy -s t -d 'check the configuration file'
complete -c rpcrdma-proxy -s v -d 'log at level debug'
complete -c rpcrdma-proxy -s V -l version -d 'print the version'
complete -c rpcrdma-proxy -s h -l help -d 'print help'
