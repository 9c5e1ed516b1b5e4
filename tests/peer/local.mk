# The peer: an endpoint in Python that shares no source with lib/ or with the judge.
EXTRA_DIST += tests/peer
TESTS += tests/peer/unit/run.sh
