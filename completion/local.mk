# Completion of both programs for bash, zsh and fish.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completion/rpcrdma-proxy completion/rpcrdma-proxyctl
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = completion/_rpcrdma-proxy
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = completion/rpcrdma-proxy.fish completion/rpcrdma-proxyctl.fish
