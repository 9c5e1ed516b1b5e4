# The code broken on purpose, by the statements of tests/REQUIREMENTS.md.
TESTS += tests/mutants/check.sh
EXTRA_DIST += tests/mutants/check.sh tests/mutants/mutants tests/mutants/build.py tests/mutants/shows.py tests/mutants/table.py \
	tests/mutants/chosen.h tests/mutants/a.txt tests/mutants/b.txt tests/mutants/c.txt tests/mutants/d.txt tests/mutants/e.txt \
	tests/mutants/i.txt tests/mutants/x.txt
