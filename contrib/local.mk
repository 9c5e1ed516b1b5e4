# What others take in: a dashboard for Grafana, and alerts for Prometheus. tests/e2e/metrics.sh asks each of their queries.
EXTRA_DIST += contrib/grafana/rpcrdma-proxy.json contrib/prometheus/rpcrdma-proxy.rules.yml
