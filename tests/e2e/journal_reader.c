// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives the journal's entries at a socket and prints them unchanged, with an empty line after
 * each.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char entry[64 * 1024];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t len;

	if (argc != 2 || strlen(argv[1]) >= sizeof(addr.sun_path)) {
		fprintf(stderr, "usage: journal_reader SOCKET\n");
		return 2;
	}
	strcpy(addr.sun_path, argv[1]);
	unlink(argv[1]);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || chmod(argv[1], 0666)) {
		perror("journal_reader");
		return 1;
	}
	while ((len = recv(fd, entry, sizeof(entry), 0)) >= 0) {
		fwrite(entry, 1, (size_t)len, stdout);
		putchar('\n');
		fflush(stdout);
	}
	perror("journal_reader");
	return 1;
}
