# The packet judge: what a capture shows, without a line of the code that it judges.
judge_sources = tests/judge/book.c tests/judge/bytes.c tests/judge/bytes.h tests/judge/capture.c \
	tests/judge/capture.h tests/judge/iwarp.c tests/judge/judge.h tests/judge/tcp.c tests/judge/tcp.h \
	tests/judge/transport.c tests/judge/trial.c

check_PROGRAMS += tests/judge/judge
tests_judge_judge_SOURCES = tests/judge/judge.c $(judge_sources)
EXTRA_DIST += tests/judge/judge.sh

check_PROGRAMS += tests/judge/make_capture
tests_judge_make_capture_SOURCES = tests/judge/make_capture.c tests/judge/bytes.c tests/judge/bytes.h \
	tests/judge/forge.c tests/judge/forge.h tests/judge/story_one.c
EXTRA_DIST += tests/judge/test_judge.sh
TESTS += tests/judge/test_judge.sh
