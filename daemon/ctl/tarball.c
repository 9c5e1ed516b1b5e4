// SPDX-License-Identifier: BSD-3-Clause
/* A compressed tar archive: ustar (POSIX.1-1988), through gzip. */
#include "daemon/ctl/tarball.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 512u

/* Numbers are octal text; what is not set is zero. */
struct header {
	char name[TARBALL_NAME_BYTES];
	char mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type, linkname[100];
	char magic[6], version[2];
	char more[247];
};
_Static_assert(sizeof(struct header) == BLOCK_BYTES, "a header is one block");

static void fill_header(struct header *header, const char *name, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned sum = 0;

	memset(header, 0, sizeof(*header));
	snprintf(header->name, sizeof(header->name), "%s", name);
	strcpy(header->mode, "0000600");
	strcpy(header->uid, "0000000");
	strcpy(header->gid, "0000000");
	snprintf(header->size, sizeof(header->size), "%011zo", len);
	snprintf(header->mtime, sizeof(header->mtime), "%011llo", (unsigned long long)time(NULL));
	header->type = '0';
	memcpy(header->magic, "ustar", 6);
	memcpy(header->version, "00", 2);
	/* As if the sum were blanks. */
	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->checksum, sizeof(header->checksum), "%06o", sum & 0777777u);
}

static void run_gzip(int in, int out)
{
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	execlp("gzip", "gzip", "-c", (char *)NULL);
	_exit(127);
}

static int start_gzip(struct tarball *tarball, int out)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	tarball->gzip = fork();
	if (!tarball->gzip)
		run_gzip(ends[0], out);
	close(ends[0]);
	if (tarball->gzip < 0) {
		close(ends[1]);
		return -EAGAIN;
	}
	tarball->out = fdopen(ends[1], "w");
	if (tarball->out)
		return 0;
	close(ends[1]);
	waitpid(tarball->gzip, NULL, 0);
	return -ENOMEM;
}

int tarball_open(struct tarball *tarball, const char *path)
{
	int rc, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	*tarball = (struct tarball){.path = path};
	rc = start_gzip(tarball, fd);
	close(fd);
	if (rc)
		unlink(path);
	return rc;
}

void tarball_add(struct tarball *tarball, const char *name, const char *data, size_t len)
{
	static const char zeros[BLOCK_BYTES];
	struct header header;

	fill_header(&header, name, len);
	fwrite(&header, sizeof(header), 1, tarball->out);
	fwrite(data, 1, len, tarball->out);
	fwrite(zeros, 1, (BLOCK_BYTES - len % BLOCK_BYTES) % BLOCK_BYTES, tarball->out);
}

/* An archive ends with two blocks of zeros. */
static int finish(struct tarball *tarball)
{
	static const char zeros[2 * BLOCK_BYTES];
	int rc = 0, status = 0;

	errno = 0;
	fwrite(zeros, sizeof(zeros), 1, tarball->out);
	if (ferror(tarball->out))
		rc = -EIO;
	if (fclose(tarball->out) && !rc)
		rc = errno ? -errno : -EIO;
	while (waitpid(tarball->gzip, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOEXEC;
	return !rc && status ? -EIO : rc;
}

int tarball_close(struct tarball *tarball)
{
	int rc = finish(tarball);

	if (rc)
		unlink(tarball->path);
	return rc;
}
