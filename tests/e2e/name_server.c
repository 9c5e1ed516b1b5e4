// SPDX-License-Identifier: BSD-3-Clause
/* A name server for the end-to-end tests: it has one address for every name, or does not answer. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_BYTES 12
#define TYPE_A       1
#define SERVFAIL     2

enum mode { ANSWER, SILENT, FAIL };

/* Where the one question ends; 0 if there is none that makes sense. */
static size_t question_end(const uint8_t *msg, size_t len)
{
	size_t at = HEADER_BYTES;

	while (at < len && msg[at])
		at += msg[at] + 1u;
	return at + 5 <= len ? at + 5 : 0;
}

/* Turns the query at @msg into its answer; returns the length. */
static size_t answer(uint8_t *msg, size_t end, enum mode mode, uint32_t addr)
{
	static const uint8_t record[] = {0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4};
	bool is_a = msg[end - 3] == TYPE_A && mode == ANSWER;

	msg[2] = 0x85;
	msg[3] = mode == FAIL ? 0x80 | SERVFAIL : 0x80;
	memset(msg + 6, 0, 6);
	if (!is_a)
		return end;
	msg[7] = 1;
	memcpy(msg + end, record, sizeof(record));
	memcpy(msg + end + sizeof(record), &addr, sizeof(addr));
	return end + sizeof(record) + sizeof(addr);
}

static int serve(int fd, enum mode mode, uint32_t addr)
{
	for (;;) {
		struct sockaddr_in from;
		socklen_t from_len = sizeof(from);
		uint8_t msg[1024];
		ssize_t n =
			recvfrom(fd, msg, sizeof(msg) - 64, 0, (struct sockaddr *)&from, &from_len);
		size_t end = n > HEADER_BYTES ? question_end(msg, (size_t)n) : 0;

		if (n < 0)
			return 1;
		printf("query\n");
		if (!end || mode == SILENT)
			continue;
		n = (ssize_t)answer(msg, end, mode, addr);
		sendto(fd, msg, (size_t)n, 0, (struct sockaddr *)&from, from_len);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	enum mode mode = ANSWER;
	uint32_t addr = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3 || inet_pton(AF_INET, argv[1], &in.sin_addr) != 1) {
		fprintf(stderr, "usage: name_server ADDRESS silent|fail|ADDRESS_OF_NAMES\n");
		return 2;
	}
	if (!strcmp(argv[2], "silent"))
		mode = SILENT;
	else if (!strcmp(argv[2], "fail"))
		mode = FAIL;
	else if (inet_pton(AF_INET, argv[2], &addr) != 1)
		return 2;
	if (bind(fd, (struct sockaddr *)&in, sizeof(in))) {
		perror("bind");
		return 1;
	}
	printf("ready\n");
	return serve(fd, mode, addr);
}
