#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Metrics: both formats are valid, Prometheus accepts them, they agree with the control socket, and each query of the
# dashboard and of the alerts in contrib/ has data.
PROM_PORT=9090
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized
for program in prometheus promtool curl; do
	command -v $program >/dev/null || skip_all "$program is not installed"
done
CONTRIB=$E2E_SRC/../../contrib

# metrics SIDE [CURL-OPTIONS]: prints the metrics of that proxy
metrics() {
	local url=http://127.0.0.1:9180/metrics

	[ "$1" = a ] || url='http://[::1]:9181/metrics'
	shift
	with_limit 20 curl -s "$@" "$url"
}
# value SIDE SERIES: prints the value of a sample
value() { metrics "$1" | grep -F -- "$2 " | cut -d ' ' -f 2; }
clean() { metrics "$1" >$T/$1.metrics && promtool check metrics <$T/$1.metrics; }
# query EXPRESSION: prints the number of series that Prometheus has for it, or nothing
query() {
	with_limit 20 curl -s --data-urlencode "query=$1" http://127.0.0.1:$PROM_PORT/api/v1/query |
		jq -r 'select(.status == "success") | [.data.result[] | select(.value[1] != "NaN")] | length'
}
# has_data EXPRESSION: it has data. Many expressions use the last minute: if that has passed, the function makes more
# traffic
has_data() { test "$(query "$1")" -gt 0 || { traffic; false; }; }
scraped() { test "$(query 'count_over_time(rpcrdma_proxy_calls_total{operation="READ",service="nfs"}[1m]) >= 3')" = 2; }

# The first has TLS for who asks.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=a -days 30 -keyout $T/a.key \
	-out $T/a.pem 2>$T/openssl.log || bail "openssl makes no certificate"
A_SERVICE="tls = \"allowed\"; tls_cert_file = \"$T/a.pem\"; tls_key_file = \"$T/a.key\";"
# left_handshake: a client that sends its probe, reads the answer, and leaves
left_handshake() {
	exec 9<>/dev/tcp/127.0.0.1/"$FRONT_PORT" &&
		printf '\200\0\0\50\0\0\0\1\0\0\0\0\0\0\0\2\0\1\206\243\0\0\0\4\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0' >&9 &&
		[ "$(head -c 36 <&9 | tr -dc A-Z)" = STARTTLS ] && exec 9>&-
}

start_ganesha
A_GLOBAL='http_listen = "127.0.0.1:9180";' B_GLOBAL='http_listen = "[::1]:9181"; http_allow = [ "::1" ];'
start_chain
cat >$T/prometheus.yml <<-END
	global: { scrape_interval: 1s, evaluation_interval: 1s }
	rule_files: [ "$(cd "$CONTRIB/prometheus" && pwd)/rpcrdma-proxy.rules.yml" ]
	scrape_configs:
	- job_name: rpcrdma-proxy
	  static_configs: [ { targets: [ "127.0.0.1:9180", "[::1]:9181" ] } ]
END
start prometheus prometheus --config.file=$T/prometheus.yml --storage.tsdb.path=$T/tsdb --web.listen-address=127.0.0.1:$PROM_PORT
serves prometheus $PROM_PORT || bail "Prometheus does not start"
traffic() {
	nfs_client "$V3" write file 3m 3 && nfs_client "$V3" verify file 3m 3 &&
		nfs_client "$V4" verify file 3m 3 && not nfs_client "$V3" verify nothing 3m 3 &&
		not nfs_client "${V3/export/none}" verify nothing 3m 3 && left_handshake
}
check "there is traffic" traffic
check "Prometheus scrapes both" wait_for 60 scraped
check "more traffic, between two scrapes" traffic
for side in a b; do
	check "$side: promtool finds nothing amiss" clean $side
	check "… nor says anything" test ! -s $T/check.out
	check "$side: OpenMetrics comes on request" eval "metrics $side -H 'Accept: application/openmetrics-text;version=1.0.0' | tail -n 1 | grep -qx '# EOF'"
	check "$side: as many READs as the control socket reports" is \
		"$(value $side 'rpcrdma_proxy_calls_total{service="nfs",operation="READ"}')" \
		"$(ctl $side -j latency nfs READ | jq .services.nfs.operations.READ.calls)"
	check "… all of them in the histogram" is \
		"$(value $side 'rpcrdma_proxy_call_duration_seconds_count{service="nfs",operation="READ"}')" \
		"$(value $side 'rpcrdma_proxy_call_duration_seconds_bucket{service="nfs",operation="READ",le="+Inf"}')"
done
bytes() { value "$1" "rpcrdma_proxy_$2_bytes_total{service=\"nfs\",side=\"$3\"}"; }
# same_bytes SIDE SIDE_OF_IT SIDE SIDE_OF_IT: the first has sent as many bytes as the second has received
same_bytes() { is "$(bytes "$1" sent "$2")" "$(bytes "$3" received "$4")"; }
check "what the second sent its clients the first received" wait_for 10 same_bytes b client a upstream
check "what the first sent its server the second received" wait_for 10 same_bytes a upstream b client
forms() { metrics "$1" | sed -n "s/^rpcrdma_proxy_call_forms_total{service=\"nfs\",side=\"$2\",//p" | sort; }
check "Calls have the same forms at both ends of the fabric" is "$(forms a upstream)" "$(forms b client)"
note "$(forms a upstream)"
check "a family of each name is there, with samples or without" is \
	"$(grep -c '^# TYPE' $T/a.metrics)" "$(grep -c '^.It Li \(rpcrdma_proxy\|process\)_' "$E2E_SRC/../../man/rpcrdma-proxy.8.in")"

# expressions: prints those of the alerts, without their comparisons, and those of the dashboard with set variables.
# This server never answers DELAY, so NOENT replaces it.
expressions() {
	sed -n 's/^ *expr: //p' "$CONTRIB/prometheus/rpcrdma-proxy.rules.yml" | sed -E 's/ (==|!=|>=|<=|>|<) [0-9.e]+//g; s/status="DELAY"/status="NOENT"/'
	jq -r '.. | objects | select(has("expr")).expr' "$CONTRIB/grafana/rpcrdma-proxy.json" |
		sed -e 's/\$__rate_interval/1m/g; s/\$__interval/1m/g; s/\$instance/.*/g; s/\$service/.*/g'
}
check "the alert rules are good ones" promtool check rules "$CONTRIB/prometheus/rpcrdma-proxy.rules.yml"
expressions >$T/expressions
check "there are queries of both" test "$(wc -l <$T/expressions)" -ge 25
while IFS= read -r expression; do
	check "has data: $expression" wait_for 20 has_data "$expression"
done <$T/expressions
check "Prometheus has read the alerts" eval "curl -s http://127.0.0.1:$PROM_PORT/api/v1/rules | jq -e '[.data.groups[].rules[] | select(.health == \"ok\")] | length >= 10'"
stop prometheus
finish
