# A dashboard for Grafana, and alerts for Prometheus. tests/e2e/metrics.sh runs each of their queries.
EXTRA_DIST += contrib/grafana/rpcrdma-proxy.json contrib/prometheus/rpcrdma-proxy.rules.yml
