# Bash completion of both programs.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completion/rpcrdma-proxy completion/rpcrdma-proxyctl
