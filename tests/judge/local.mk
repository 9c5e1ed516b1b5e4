# The packet judge: what a capture shows, without a line of the code that it judges.
judge_sources = tests/judge/book.c tests/judge/book.h tests/judge/bytes.c tests/judge/bytes.h tests/judge/capture.c \
	tests/judge/capture.h tests/judge/characteristics.c tests/judge/characteristics.h tests/judge/config.c \
	tests/judge/config.h tests/judge/cursor.h tests/judge/excuse.c tests/judge/excuse.h tests/judge/header.c \
	tests/judge/header.h tests/judge/iwarp.c tests/judge/iwarp.h tests/judge/judge.h tests/judge/limits.c tests/judge/limits.h tests/judge/options.c \
	tests/judge/options.h tests/judge/ordered.c tests/judge/ordered.h tests/judge/session.c \
	tests/judge/session.h tests/judge/tcp.c tests/judge/tcp.h tests/judge/transport.c \
	tests/judge/transport.h tests/judge/trial.c tests/judge/trial.h tests/judge/versions.c \
	tests/judge/versions.h

check_PROGRAMS += tests/judge/judge
tests_judge_judge_SOURCES = tests/judge/judge.c $(judge_sources)
tests_judge_judge_LDADD =
EXTRA_DIST += tests/judge/judge.sh

check_PROGRAMS += tests/judge/make_capture
tests_judge_make_capture_SOURCES = tests/judge/make_capture.c tests/judge/bytes.c tests/judge/bytes.h \
	tests/judge/forge.c tests/judge/forge.h tests/judge/story_crc.c tests/judge/story_draft03.c \
	tests/judge/story_one.c tests/judge/story_two.c tests/judge/story_versions.c
tests_judge_make_capture_LDADD =
EXTRA_DIST += tests/judge/test_judge.sh
TESTS += tests/judge/test_judge.sh
