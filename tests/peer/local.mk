# The peer: an endpoint in Python that shares no source with lib/ or with the judge.
EXTRA_DIST += tests/peer
TESTS += tests/peer/unit/run.sh

# Of a folder all is distributed, from the build directory too: but not what tests leave there.
dist-hook:
	find $(distdir)/tests/peer -name '*.log' -exec rm -f {} +
	find $(distdir)/tests/peer -name '*.trs' -exec rm -f {} +
	find $(distdir)/tests/peer -name __pycache__ -exec rm -rf {} +
