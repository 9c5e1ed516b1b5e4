# The image of the package.
EXTRA_DIST += container/Containerfile container/build container/daemonset.yaml doc/container.md
