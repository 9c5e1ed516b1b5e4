#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# daemonset.sh BUILD: tests container/daemonset.yaml: its fields, its file and its memory limit. podman runs its
# template as a Pod, with the image that container.sh left in BUILD/package, and the Pod serves NFS. TAP.
# shellcheck disable=SC2034
E2E_BUILD=${1:-${E2E_BUILD:-build}}
. "$(dirname "$0")/../e2e/lib.sh"
enter "$@"
here=$E2E_SRC/../package
manifest=$E2E_SRC/../../container/daemonset.yaml
work=$E2E_BUILD/package
podman=(podman --storage-driver vfs --root "$work/images" --runroot "$work/images.run")
python=/usr/bin/python3

$python -c "import yaml" 2>/dev/null || skip_all "python3-yaml is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
$python "$here/manifest.py" json "$manifest" >$T/documents || bail "the manifest is no YAML"
# of KIND FILTER: prints what jq finds in the document of that kind
of() { jq -r ".[] | select(.kind == \"$1\") | $2" $T/documents; }
container='.spec.template.spec.containers[0]'

# ---------------------------------------------------------------- the manifest

valid="the manifest is valid by the schemas of Kubernetes"
# refused WORDS SED: the manifest that SED makes of it is refused, with these words only
refused() {
	sed "$2" "$manifest" >$T/wrong.yaml
	$python "$here/manifest.py" validate $T/wrong.yaml >$T/wrong && return 1
	grep -qF -- "$1" $T/wrong && [ "$(wc -l <$T/wrong)" = 1 ] || { cat $T/wrong; return 1; }
}
# Objects whose fields are listed, and those among them that take others.
listed() { $python "$here/manifest.py" schema apps/v1 DaemonSet | jq '[.. | objects | select(.properties? | objects)] | length'; }
loose() { $python "$here/manifest.py" schema apps/v1 DaemonSet | jq '[.. | objects | select(.properties? | objects) | select(.additionalProperties != false)] | length'; }
if $python -c "import kubernetes, jsonschema" 2>/dev/null; then
	check "$valid" $python "$here/manifest.py" validate "$manifest"
	check "a schema takes no field that it does not list" eval '[ "$(listed)" -gt 50 ] && [ "$(loose)" = 0 ]'
	check "an unknown field is refused" \
		refused "DaemonSet.spec.template.spec.containers[0]: Additional properties are not allowed ('readynessProbe' was unexpected)" \
		's/readinessProbe/readynessProbe/'
	check "a wrong type is refused" refused "DaemonSet.spec.template.spec.hostNetwork: 'true' is not of type 'boolean'" \
		's/hostNetwork: true/hostNetwork: "true"/'
	check "a missing required field is refused" refused "DaemonSet.spec.template.spec.containers[0].volumeMounts[1]: 'mountPath' is a required property" \
		'/mountPath: .run.rpcrdma-proxy/d'
	check "a kind of another group is refused" refused "there is no DaemonSet of version batch/v1" 's,apps/v1,batch/v1,'
else
	ok "$valid # SKIP python3-kubernetes or python3-jsonschema is not installed"
fi
of ConfigMap '.data["rpcrdma-proxy.conf"]' >$T/pod.conf
check "the daemon accepts the file" "$PROXY" -t -c $T/pod.conf
"$PROXY" -tv -c $T/pod.conf >$T/amounts 2>&1
check "and warns of nothing" not grep -q warning $T/amounts
# The memory from -tv: the limit of RPCs, two kinds of buffers, and all connections of each service.
needed_mib=$(grep -oE 'memory: [0-9]+ MiB for RPCs|up to [0-9.]+ MiB of (unused|staging) buffers|max_connections up to [0-9]+ MiB' $T/amounts |
	grep -oE '[0-9.]+ MiB' | awk '{ sum += $1 } END { printf "%.0f", sum }')
limit=$(of DaemonSet "$container.resources.limits.memory")
check "the limit of $limit covers the $needed_mib MiB of -tv, and the kernel's buffers" \
	test "${limit%Mi}" -ge $((needed_mib + 64)) -a "$needed_mib" -gt 300
check "the comment has that sum" grep -q "prints for this file is $needed_mib MiB" "$manifest"
check "the configuration is a directory, which Kubernetes updates" \
	[ "$(of DaemonSet "$container.volumeMounts | map(has(\"subPath\")) | any")" = false ]
probe=$(of DaemonSet "$container.readinessProbe.httpGet | \"http://\(.host):\(.port)\(.path)\"")
check "the probe asks for a service of the file" grep -q "name = \"${probe##*/readyz/}\"" $T/pod.conf

# ---------------------------------------------------------------- as a Pod

# Prints why podman cannot run a Pod here, or nothing.
cannot_play() {
	local tool

	[ "$(id -u)" = 0 ] && can_open_by_handle || { echo "needs root"; return; }
	for tool in podman catatonit curl ganesha.nfsd; do
		command -v $tool >/dev/null || { echo "$tool is not installed"; return; }
	done
	"${podman[@]}" image exists localhost/rpcrdma-proxy 2>/dev/null || { echo "container.sh has made no image"; return; }
	"${podman[@]}" run --rm --network host --entrypoint '["/bin/true"]' localhost/rpcrdma-proxy 2>&1 | head -n 1
}
# A host without CAP_SYS_RESOURCE does not grant the limits that podman requests, and crun does not support mixed
# control groups.
podman_start() {
	export CONTAINERS_CONF=$T/containers.conf
	cat >$T/containers.conf <<-END
		[containers]
		default_ulimits = [ "nofile=4096:4096", "nproc=4096:4096" ]
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "none"
	END
	[ ! -d /sys/fs/cgroup/unified ] || umount /sys/fs/cgroup/unified
}
podman_start
why=$(cannot_play)
if [ -n "$why" ]; then
	ok "podman runs the template as a Pod # SKIP $why"
	finish
	exit
fi

pod() { podman_quiet exec rpcrdma-proxy-rpcrdma-proxy "$@"; }
podman_quiet() { "${podman[@]}" "$@" </dev/null; }
state() { podman_quiet inspect --format "{{.$1}}" rpcrdma-proxy-rpcrdma-proxy; }
{
	of ConfigMap 'del(.metadata.namespace)'
	echo ---
	of DaemonSet '{ apiVersion: "v1", kind: "Pod", metadata: { name: "rpcrdma-proxy", labels: .spec.template.metadata.labels }, spec: .spec.template.spec }'
} >$T/pod.yaml
# The filer of the file: NFS-Ganesha with a proxy in front that listens for iWARP.
NFS_PORT=2149
ip addr add 192.0.2.1/32 dev lo
start_ganesha
cat >$T/filer.conf <<-END
	control = "$T/filer.sock";
	services = (
	$(service exports "iwarp://192.0.2.1:20049" "tcp://127.0.0.1:$NFS_PORT" 'allow = [ "0.0.0.0/0" ];' | sed 's/require_privileged_port = false;//')
	);
END
start filer "$PROXY" -c $T/filer.conf
serves filer 20049 || bail "the filer's proxy does not start"

podman_quiet pod rm -f rpcrdma-proxy >/dev/null 2>&1
podman_quiet volume rm -f rpcrdma-proxy run >/dev/null 2>&1
check "podman makes the Pod" podman_quiet play kube $T/pod.yaml
serves_or_says() { wait_for 60 listens 2049 || { podman_quiet logs rpcrdma-proxy-rpcrdma-proxy; false; }; }
check "it listens" serves_or_says
check "its memory is limited" [ "$(state HostConfig.Memory)" = $((${limit%Mi} << 20)) ]
ready() { with_limit 20 curl -sf -o $T/ready "$probe"; }
check "the readiness probe succeeds" wait_for 20 ready
V4="nfs://127.0.0.1/export?version=4&nfsport=2049"
head -c 3000000 /dev/urandom >$T/file
check "a file is written" nfs_client "$V4" put $T/file file
check "and is read" nfs-cp "${V4/\?//file?}" $T/back
check "and is what it was" cmp $T/file $T/back
# As the kubelet does: replaces the file by another one.
volume=$(podman_quiet volume inspect --format '{{.Mountpoint}}' rpcrdma-proxy)
sed 's/max_connections = 64/max_connections = 63/' $T/pod.conf >"$volume/new" && mv "$volume/new" "$volume/rpcrdma-proxy.conf"
check "a changed file arrives" pod rpcrdma-proxyctl reload
check "and has an effect" eval 'pod rpcrdma-proxyctl config | grep "max_connections = 63"'
pod rpcrdma-proxyctl drain to-filer >/dev/null
check "the probe fails while the service is drained" wait_for 20 not ready
check "it ends in good order" eval 'podman_quiet pod stop -t 45 rpcrdma-proxy && [ "$(state State.ExitCode)" = 0 ]'
podman_quiet pod rm -f rpcrdma-proxy >/dev/null
podman_quiet volume rm -f rpcrdma-proxy run >/dev/null
finish
