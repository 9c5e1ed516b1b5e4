# SPDX-License-Identifier: BSD-3-Clause
# Fish completion of rpcrdma-proxyctl(8). The commands and their arguments are those of the program's help.

# The words before the cursor without options and their values; with --daemon the options that name the daemon.
function __rpcrdma_proxyctl_given
    set -l tokens (commandline -opc)
    set -l given
    set -l daemon
    set -l before
    set -e tokens[1]
    for token in $tokens
        switch "$before"
            case -s --socket -c --config
                set -a daemon $before $token
                set before
                continue
            case -d --delay -n --client --operation --slower --count --seconds --snaplen --max-bytes
                set before
                continue
        end
        set before $token
        string match -q -- '-*' $token || set -a given $token
    end
    if test "$argv[1]" = --daemon
        string join \n -- $daemon
    else
        string join \n -- $given
    end
end

# Whether the command is one of these; without any, whether there is none yet.
function __rpcrdma_proxyctl_is
    set -l given (__rpcrdma_proxyctl_given)
    if test (count $argv) = 0
        test (count $given) = 0
    else
        contains -- "$given[1]" $argv
    end
end

# The answer to a command, within a second or not at all.
function __rpcrdma_proxyctl_ask
    set -l program (commandline -opc)[1]
    timeout 1 $program (__rpcrdma_proxyctl_given --daemon) --json $argv 2>/dev/null
end

# The names of commands with their descriptions. A text is on the same line or on the next one.
function __rpcrdma_proxyctl_commands
    set -l program (commandline -opc)[1]
    $program --help 2>/dev/null | awk '
        function flush() { if (name != "") print name "\t" text; name = "" }
        /^commands:/ { on = 1; next }
        on && /^  [a-z]/ { flush(); name = $1; text = substr($0, 20); next }
        on && /^ / { text = $0; sub(/^ */, "", text) }
        /^[^ ]/ { on = 0 }
        END { flush() }'
end

function __rpcrdma_proxyctl_services
    __rpcrdma_proxyctl_ask services | sed -n 's/^      "name": "\(.*\)",\{0,1\}$/\1/p'
end

function __rpcrdma_proxyctl_operations
    __rpcrdma_proxyctl_ask latency | sed -n 's/^        "\([A-Za-z0-9_]*\)": {$/\1/p' | sort -u
end

# The servers of a service, without the transport.
function __rpcrdma_proxyctl_targets
    __rpcrdma_proxyctl_ask services | service=$argv[1] awk '
        /^      "name": "/ { name = $0; sub(/^      "name": "/, "", name); sub(/",?$/, "", name) }
        /^      "(mount_)?targets": / { mount = /"mount_/ }
        /^          "connect": "/ && name == ENVIRON["service"] && !mount {
            sub(/^          "connect": "/, ""); sub(/",?$/, ""); sub(/^[a-z]+:\/\//, ""); print
        }'
end

# Numbers of connections and addresses of clients.
function __rpcrdma_proxyctl_clients
    __rpcrdma_proxyctl_ask connections | sed -n 's/^      "id": \([0-9]*\),\{0,1\}$/\1/p
        /^      "client_address": /{ s/^[^:]*: "//; s/:[0-9]*",\{0,1\}$//; s/^\[\(.*\)\]$/\1/; s/%.*//; p; }' | sort -u
end

# What may stand at the cursor: an argument of the command.
function __rpcrdma_proxyctl_argument
    set -l program (commandline -opc)[1]
    set -l given (__rpcrdma_proxyctl_given)
    if test "$given[1]" = help
        test (count $given) = 1 && __rpcrdma_proxyctl_commands
        return
    end
    set -l usage ($program help $given[1] 2>/dev/null | sed -n 's/^usage: [^ ]* \[OPTION\]\.\.\. //p' | tr -d '[]')
    set -l arguments (string split ' ' -- $usage)[2..-1]
    set -l kind $arguments[(count $given)]
    switch "$kind"
        case SERVICE
            __rpcrdma_proxyctl_services
            # Its service may be left out.
            test $given[1] = capture && __fish_complete_path (commandline -ct)
        case OPERATION
            __rpcrdma_proxyctl_operations
        case ADDRESS
            __rpcrdma_proxyctl_targets $given[2]
        case 'ID|ADDRESS'
            __rpcrdma_proxyctl_clients
        case LEVEL
            printf '%s\n' error warning info debug
        case FILE
            __fish_complete_path (commandline -ct)
        case '--*' '*[A-Z]*'
        case '*|*'
            string split '|' -- $kind
    end
end

complete -c rpcrdma-proxyctl -f
complete -c rpcrdma-proxyctl -s s -l socket -r -F -d 'control socket of the daemon'
complete -c rpcrdma-proxyctl -s c -l config -r -F -d 'configuration file of the daemon'
complete -c rpcrdma-proxyctl -s j -l json -d 'print JSON'
complete -c rpcrdma-proxyctl -s a -l all -d 'print every column'
complete -c rpcrdma-proxyctl -s v -l verbose -d 'print which socket is used'
complete -c rpcrdma-proxyctl -s V -l version -d 'print the version'
complete -c rpcrdma-proxyctl -s h -l help -d 'print help'
complete -c rpcrdma-proxyctl -n __rpcrdma_proxyctl_is -a '(__rpcrdma_proxyctl_commands)'
complete -c rpcrdma-proxyctl -n __rpcrdma_proxyctl_is -a help -d 'explain a command'
complete -c rpcrdma-proxyctl -n 'not __rpcrdma_proxyctl_is' -a '(__rpcrdma_proxyctl_argument)'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is status' -l exit-code -d 'exit status of a monitoring plugin'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is stop' -l now -d 'without draining'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is check' -l mount -d 'also mount an export'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is top' -s d -l delay -x -d 'seconds between updates'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is top' -l connections -d 'start with connections'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is top trace' -s n -l count -x -d 'end after so many'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is trace capture' -l client -x -d 'client address or prefix' \
    -a '(__rpcrdma_proxyctl_clients | string match -r ".*[.:].*")'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is trace capture' -l operation -x -d 'one operation' \
    -a '(__rpcrdma_proxyctl_operations)'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is trace' -l slower -x -d 'that took at least this long'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is trace capture' -l seconds -x -d 'end after this time'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is capture' -l snaplen -x -d 'longest message that is kept whole'
complete -c rpcrdma-proxyctl -n '__rpcrdma_proxyctl_is capture' -l max-bytes -x -d 'longest file'
