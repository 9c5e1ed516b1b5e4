// SPDX-License-Identifier: BSD-3-Clause
/*
 * An NFS client for the end-to-end tests, on libnfs, for actions that nfs-cp, nfs-cat and nfs-ls do
 * not have.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

#include "tests/lib/time_limit.h"

#define SILENCE_S   120 /* without a Reply, on an idle machine */
#define RECONNECT_S 20  /* without a Reply: then the Calls are sent again, on another connection */
#define BLOCK_BYTES (256 * 1024)
#define DEPTH       8
#define DEPTH_MAX   64
#define CALL_BYTES  (1024 * 1024 + 4096)

struct client {
	struct nfs_context *nfs;
	bool once; /* one connection: Calls lost with it are not sent again */
	struct time_limit silence;
	time_t reconnect_at; /* by CLOCK_MONOTONIC, in seconds */
};

/* One file that is written or read with several operations in flight. */
struct transfer {
	struct client *client;
	struct nfsfh *fh;
	uint64_t size, next, done, seed;
	size_t block;
	unsigned in_flight, depth;
	bool writing, failed;
	const char *path;
};

/* One operation of a transfer. */
struct op {
	struct transfer *transfer;
	uint64_t offset;
	size_t len;
	uint8_t *data; /* of a WRITE; a READ's comes with the callback */
};

/* The word at index @i of the endless content that @seed names (splitmix64). */
static uint64_t content_word(uint64_t seed, uint64_t i)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void content_fill(uint8_t *data, uint64_t offset, size_t len, uint64_t seed)
{
	size_t pos = 0;

	while (pos < len) {
		uint64_t word = content_word(seed, (offset + pos) / 8);
		size_t skip = (offset + pos) % 8;
		size_t n = 8 - skip < len - pos ? 8 - skip : len - pos;

		memcpy(data + pos, (const uint8_t *)&word + skip, n);
		pos += n;
	}
}

/* The offset of the first byte in @data that is not the content, or -1. */
static int64_t content_compare(const uint8_t *data, uint64_t offset, size_t len, uint64_t seed)
{
	for (size_t pos = 0; pos < len; pos++) {
		uint64_t word = content_word(seed, (offset + pos) / 8);
		size_t skip = (offset + pos) % 8;

		if (!skip && len - pos >= 8 && !memcmp(data + pos, &word, 8)) {
			pos += 7;
			continue;
		}
		if (data[pos] != ((const uint8_t *)&word)[skip])
			return (int64_t)(offset + pos);
	}
	return -1;
}

/*
 * libnfs 4.0 gives every NFSv4 Call 4 KiB to be encoded in, its WRITE payload included. This takes
 * the place of its own function, so that Calls of up to 1 MiB of payload have room.
 */
struct rpc_context;
struct rpc_pdu;
struct rpc_context *nfs_get_rpc_context(struct nfs_context *nfs);
void rpc_set_autoreconnect(struct rpc_context *rpc, int tries);
typedef void (*rpc_done_fn)(struct rpc_context *rpc, int status, void *data, void *arg);
typedef uint32_t (*rpc_decode_fn)(void *xdr, void *result);
struct rpc_pdu *rpc_allocate_pdu2(struct rpc_context *rpc, int program, int version, int procedure,
				  rpc_done_fn done, void *arg, rpc_decode_fn decode,
				  int result_bytes, size_t more_bytes);
struct rpc_pdu *rpc_allocate_pdu(struct rpc_context *rpc, int program, int version, int procedure,
				 rpc_done_fn done, void *arg, rpc_decode_fn decode,
				 int result_bytes);

struct rpc_pdu *rpc_allocate_pdu(struct rpc_context *rpc, int program, int version, int procedure,
				 rpc_done_fn done, void *arg, rpc_decode_fn decode,
				 int result_bytes)
{
	bool v4 = program == 100003 && version == 4;

	return rpc_allocate_pdu2(rpc, program, version, procedure, done, arg, decode, result_bytes,
				 v4 ? CALL_BYTES : 0);
}

static int complain(struct client *client, const char *what, const char *path, int err)
{
	fprintf(stderr, "%s %s: %s (%s)\n", what, path, err < 0 ? strerror(-err) : "failed",
		nfs_get_error(client->nfs));
	return 1;
}

static int client_open(struct client *client, const char *url)
{
	struct nfs_url *parsed;
	int err;

	client->nfs = nfs_init_context();
	if (!client->nfs)
		return -ENOMEM;
	parsed = nfs_parse_url_dir(client->nfs, url);
	if (!parsed) {
		complain(client, "parse", url, 0);
		return -EINVAL;
	}
	err = nfs_mount(client->nfs, parsed->server, parsed->path);
	if (err)
		complain(client, "mount", url, err);
	client->once = getenv("NFS_CLIENT_ONCE");
	rpc_set_autoreconnect(nfs_get_rpc_context(client->nfs), client->once ? 0 : -1);
	nfs_destroy_url(parsed);
	return err;
}

static void client_close(struct client *client)
{
	if (client->nfs)
		nfs_destroy_context(client->nfs);
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void client_heard(struct client *client)
{
	time_limit_begin(&client->silence, SILENCE_S);
	client->reconnect_at = now_s() + RECONNECT_S;
}

/*
 * Disconnect if no Reply has come for RECONNECT_S: libnfs then connects and sends again. The Linux client does that when its
 * timeo has passed; libnfs by itself waits for ever. NFS-Ganesha 4.3 discards a Call that comes from the same port on a new
 * connection while it executes the first copy, whose Reply is lost with the old connection.
 */
static void client_reconnect(struct client *client)
{
	if (client->once || now_s() < client->reconnect_at)
		return;
	shutdown(nfs_get_fd(client->nfs), SHUT_RDWR);
	client->reconnect_at = now_s() + RECONNECT_S;
}

/* Serve the connection once; false when it is lost for good, or silent for too long. */
static bool client_serve(struct client *client)
{
	struct pollfd pfd = {.fd = nfs_get_fd(client->nfs),
			     .events = (short)nfs_which_events(client->nfs)};

	if (time_limit_passed(&client->silence)) {
		fprintf(stderr, "no Reply comes\n");
		return false;
	}
	client_reconnect(client);
	if (poll(&pfd, 1, 1000) < 0)
		return errno == EINTR;
	return nfs_service(client->nfs, pfd.revents) >= 0;
}

/* An operation on a file that transfers nothing: fsync or close. */
struct plain_op {
	bool done;
	int status;
};

typedef int plain_op_fn(struct nfs_context *nfs, struct nfsfh *fh, nfs_cb done, void *arg);

static void plain_op_done(int status, struct nfs_context *nfs, void *data, void *arg)
{
	struct plain_op *op = arg;

	op->done = true;
	op->status = status;
}

/* Ends the program on failure, as transfer_run() does. Returns the operation's status. */
static int client_run(struct client *client, plain_op_fn *start, struct nfsfh *fh)
{
	struct plain_op op = {0};
	int err = start(client->nfs, fh, plain_op_done, &op);

	if (err)
		return err;
	client_heard(client);
	while (!op.done) {
		if (!client_serve(client)) {
			fprintf(stderr, "connection lost (%s)\n", nfs_get_error(client->nfs));
			exit(1);
		}
	}
	return op.status;
}

static void op_done(int status, struct nfs_context *nfs, void *data, void *arg)
{
	struct op *op = arg;
	struct transfer *transfer = op->transfer;

	transfer->in_flight--;
	client_heard(transfer->client);
	if (status != (int)op->len) {
		fprintf(stderr, "%s %s at %" PRIu64 ": %d of %zu (%s)\n",
			transfer->writing ? "write" : "read", transfer->path, op->offset, status,
			op->len, nfs_get_error(nfs));
		transfer->failed = true;
	} else if (!transfer->writing) {
		int64_t bad = content_compare(data, op->offset, op->len, transfer->seed);

		if (bad >= 0) {
			fprintf(stderr, "read %s: byte %" PRId64 " is corrupt\n", transfer->path,
				bad);
			transfer->failed = true;
		}
	}
	transfer->done += op->len;
	free(op->data);
	free(op);
}

static int op_start(struct transfer *transfer)
{
	uint64_t left = transfer->size - transfer->next;
	struct op *op = calloc(1, sizeof(*op));
	struct nfs_context *nfs = transfer->client->nfs;
	int err;

	if (!op)
		return -ENOMEM;
	op->transfer = transfer;
	op->offset = transfer->next;
	op->len = left < transfer->block ? (size_t)left : transfer->block;
	if (transfer->writing) {
		op->data = malloc(op->len);
		if (!op->data) {
			free(op);
			return -ENOMEM;
		}
		content_fill(op->data, op->offset, op->len, transfer->seed);
		err = nfs_pwrite_async(nfs, transfer->fh, op->offset, op->len, op->data, op_done,
				       op);
	} else {
		err = nfs_pread_async(nfs, transfer->fh, op->offset, op->len, op_done, op);
	}
	if (err) {
		complain(transfer->client, "start", transfer->path, err);
		free(op->data);
		free(op);
		return -EIO;
	}
	transfer->next += op->len;
	transfer->in_flight++;
	return 0;
}

/* Ends the program on failure: libnfs would still call back for the operations in flight. */
static void transfer_run(struct transfer *transfer)
{
	client_heard(transfer->client);
	while (!transfer->failed && (transfer->in_flight || transfer->next < transfer->size)) {
		while (transfer->in_flight < transfer->depth && transfer->next < transfer->size)
			if (op_start(transfer))
				exit(1);
		if (!client_serve(transfer->client)) {
			fprintf(stderr, "%s: connection lost (%s)\n", transfer->path,
				nfs_get_error(transfer->client->nfs));
			exit(1);
		}
	}
	if (transfer->failed)
		exit(1);
}

/* Opens for writing, created or emptied: libnfs creates NFSv4 files only where none exists. */
static int file_create(struct client *client, const char *path, struct nfsfh **fh)
{
	int err = nfs_open(client->nfs, path, O_RDWR | O_TRUNC, fh);

	if (err != -ENOENT)
		return err;
	return nfs_open2(client->nfs, path, O_CREAT | O_RDWR, 0644, fh);
}

static int file_write(struct client *client, const char *path, uint64_t size, uint64_t seed,
		      size_t block, unsigned depth)
{
	struct transfer transfer = {.client = client,
				    .size = size,
				    .seed = seed,
				    .block = block,
				    .depth = depth,
				    .writing = true,
				    .path = path};
	int err = file_create(client, path, &transfer.fh);

	if (err)
		return complain(client, "create", path, err);
	transfer_run(&transfer);
	err = client_run(client, nfs_fsync_async, transfer.fh);
	if (err)
		return complain(client, "fsync", path, err);
	err = client_run(client, nfs_close_async, transfer.fh);
	return err ? complain(client, "close", path, err) : 0;
}

static int file_verify(struct client *client, const char *path, uint64_t size, uint64_t seed,
		       size_t block, unsigned depth)
{
	struct transfer transfer = {.client = client,
				    .size = size,
				    .seed = seed,
				    .block = block,
				    .depth = depth,
				    .path = path};
	struct nfs_stat_64 st;
	int err = nfs_open(client->nfs, path, O_RDONLY, &transfer.fh);

	if (err)
		return complain(client, "open", path, err);
	err = nfs_fstat64(client->nfs, transfer.fh, &st);
	if (err)
		return complain(client, "stat", path, err);
	if (st.nfs_size != size) {
		fprintf(stderr, "%s: %" PRIu64 " bytes, not %" PRIu64 "\n", path,
			(uint64_t)st.nfs_size, size);
		return 1;
	}
	transfer_run(&transfer);
	err = client_run(client, nfs_close_async, transfer.fh);
	return err ? complain(client, "close", path, err) : 0;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*end == 'k' || *end == 'K')
		return n << 10;
	if (*end == 'm' || *end == 'M')
		return n << 20;
	return n;
}

static uint64_t arg_number(int argc, char **argv, int i, uint64_t fallback)
{
	return i < argc ? number(argv[i]) : fallback;
}

static unsigned arg_depth(int argc, char **argv, int i)
{
	uint64_t depth = arg_number(argc, argv, i, DEPTH);

	return depth < 1 ? 1 : depth > DEPTH_MAX ? DEPTH_MAX : (unsigned)depth;
}

/* write PATH SIZE SEED [BLOCK [DEPTH]] */
static int cmd_write(struct client *client, int argc, char **argv)
{
	return file_write(client, argv[0], number(argv[1]), number(argv[2]),
			  arg_number(argc, argv, 3, BLOCK_BYTES), arg_depth(argc, argv, 4));
}

/* verify PATH SIZE SEED [BLOCK [DEPTH]] */
static int cmd_verify(struct client *client, int argc, char **argv)
{
	return file_verify(client, argv[0], number(argv[1]), number(argv[2]),
			   arg_number(argc, argv, 3, BLOCK_BYTES), arg_depth(argc, argv, 4));
}

/* sizes PATH FROM TO STEP: a file of each size is written in one WRITE and read in one READ */
static int cmd_sizes(struct client *client, int argc, char **argv)
{
	uint64_t from = number(argv[1]), to = number(argv[2]), step = number(argv[3]);

	for (uint64_t size = from; size <= to; size += step) {
		size_t block = size ? (size_t)size : 1;

		if (file_write(client, argv[0], size, size + 1, block, 1) ||
		    file_verify(client, argv[0], size, size + 1, block, 1)) {
			fprintf(stderr, "at size %" PRIu64 "\n", size);
			return 1;
		}
		if (!step)
			break;
	}
	return 0;
}

/* fill DIR COUNT: makes COUNT empty files named entry-NNNNN */
static int cmd_fill(struct client *client, int argc, char **argv)
{
	uint64_t count = number(argv[1]);

	for (uint64_t i = 0; i < count; i++) {
		struct nfsfh *fh;
		char path[256];
		int err;

		snprintf(path, sizeof(path), "%s/entry-%05" PRIu64, argv[0], i);
		err = file_create(client, path, &fh);
		if (err)
			return complain(client, "create", path, err);
		err = nfs_close(client->nfs, fh);
		if (err)
			return complain(client, "close", path, err);
	}
	return 0;
}

/* list DIR COUNT: entry-00000 to entry-(COUNT - 1), each once, and nothing else */
static int cmd_list(struct client *client, int argc, char **argv)
{
	uint64_t count = number(argv[1]), seen = 0;
	bool *found = calloc(count + 1, sizeof(*found));
	struct nfsdir *dir;
	struct nfsdirent *entry;
	int err = nfs_opendir(client->nfs, argv[0], &dir);

	if (err || !found)
		return complain(client, "opendir", argv[0], err);
	while ((entry = nfs_readdir(client->nfs, dir))) {
		uint64_t i;

		if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
			continue;
		if (sscanf(entry->name, "entry-%" SCNu64, &i) != 1 || i >= count || found[i]) {
			fprintf(stderr, "%s: %s is not expected\n", argv[0], entry->name);
			return 1;
		}
		found[i] = true;
		seen++;
	}
	nfs_closedir(client->nfs, dir);
	free(found);
	if (seen != count)
		fprintf(stderr, "%s: %" PRIu64 " entries, not %" PRIu64 "\n", argv[0], seen, count);
	return seen != count;
}

/* mixed PATH SIZE SEED [DEPTH]: names, attributes, symlinks and data of one client, all checked, all removed */
static int cmd_mixed(struct client *client, int argc, char **argv)
{
	struct nfs_context *nfs = client->nfs;
	unsigned depth = arg_depth(argc, argv, 3);
	char file[256], moved[256], link[256], target[1024], long_target[600];
	struct nfs_stat_64 st;
	int err;

	snprintf(file, sizeof(file), "%s/file", argv[0]);
	snprintf(moved, sizeof(moved), "%s/moved", argv[0]);
	snprintf(link, sizeof(link), "%s/link", argv[0]);
	memset(long_target, 'x', sizeof(long_target) - 1);
	long_target[sizeof(long_target) - 1] = '\0';
	if ((err = nfs_mkdir(nfs, argv[0])))
		return complain(client, "mkdir", argv[0], err);
	if (file_write(client, file, number(argv[1]), number(argv[2]), BLOCK_BYTES, depth) ||
	    file_verify(client, file, number(argv[1]), number(argv[2]), BLOCK_BYTES, depth))
		return 1;
	if ((err = nfs_symlink(nfs, long_target, link)))
		return complain(client, "symlink", link, err);
	if ((err = nfs_readlink(nfs, link, target, sizeof(target))) || strcmp(target, long_target))
		return complain(client, "readlink", link, err);
	if ((err = nfs_rename(nfs, file, moved)))
		return complain(client, "rename", file, err);
	if ((err = nfs_stat64(nfs, moved, &st)) || st.nfs_size != number(argv[1]))
		return complain(client, "stat", moved, err);
	if ((err = nfs_stat64(nfs, file, &st)) != -ENOENT)
		return complain(client, "stat of a renamed file", file, err);
	if ((err = nfs_unlink(nfs, moved)) || (err = nfs_unlink(nfs, link)))
		return complain(client, "unlink", moved, err);
	if ((err = nfs_rmdir(nfs, argv[0])))
		return complain(client, "rmdir", argv[0], err);
	return 0;
}

/* hold PATH SIZE SEED [BLOCK]: writes a file and reads it back, until it is killed; says "running" after the first time */
static int cmd_hold(struct client *client, int argc, char **argv)
{
	size_t block = arg_number(argc, argv, 3, BLOCK_BYTES);

	for (unsigned round = 0;; round++) {
		if (file_write(client, argv[0], number(argv[1]), number(argv[2]), block, DEPTH) ||
		    file_verify(client, argv[0], number(argv[1]), number(argv[2]), block, DEPTH))
			return 1;
		if (!round) {
			puts("running");
		}
	}
}

/* once PATH SIZE SEED: says "ready", waits for a line, reads all in one READ, says "done", waits again */
static int cmd_once(struct client *client, int argc, char **argv)
{
	uint64_t size = number(argv[1]);
	struct nfsfh *fh;
	uint8_t *data = malloc(size);
	char line[16];
	int err = nfs_open(client->nfs, argv[0], O_RDONLY, &fh);

	if (err || !data)
		return complain(client, "open", argv[0], err);
	puts("ready");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	err = nfs_pread(client->nfs, fh, 0, size, data);
	if (err != (int)size || content_compare(data, 0, size, number(argv[2])) >= 0)
		return complain(client, "read", argv[0], err);
	puts("done");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	free(data);
	err = nfs_close(client->nfs, fh);
	return err ? complain(client, "close", argv[0], err) : 0;
}

/* put LOCAL PATH: copies a local file to the server */
static int cmd_put(struct client *client, int argc, char **argv)
{
	const size_t block = BLOCK_BYTES;
	FILE *in = fopen(argv[0], "rb");
	uint8_t *data = malloc(block);
	struct nfsfh *fh;
	uint64_t offset = 0;
	size_t n;
	int err;

	if (!in || !data) {
		perror(argv[0]);
		return 1;
	}
	if ((err = file_create(client, argv[1], &fh)))
		return complain(client, "create", argv[1], err);
	while ((n = fread(data, 1, block, in)) > 0) {
		err = nfs_pwrite(client->nfs, fh, offset, n, data);
		if (err != (int)n)
			return complain(client, "write", argv[1], err);
		offset += n;
	}
	fclose(in);
	free(data);
	err = nfs_close(client->nfs, fh);
	return err ? complain(client, "close", argv[1], err) : 0;
}

/* max: the largest READ and WRITE that the server offers */
static int cmd_max(struct client *client, int argc, char **argv)
{
	printf("%" PRIu64 " %" PRIu64 "\n", nfs_get_readmax(client->nfs),
	       nfs_get_writemax(client->nfs));
	return 0;
}

static const struct command {
	const char *name;
	int min_args;
	int (*run)(struct client *client, int argc, char **argv);
	const char *usage;
} commands[] = {
	{"write", 3, cmd_write, "write PATH SIZE SEED [BLOCK [DEPTH]]"},
	{"verify", 3, cmd_verify, "verify PATH SIZE SEED [BLOCK [DEPTH]]"},
	{"sizes", 4, cmd_sizes, "sizes PATH FROM TO STEP"},
	{"fill", 2, cmd_fill, "fill DIR COUNT"},
	{"list", 2, cmd_list, "list DIR COUNT"},
	{"mixed", 3, cmd_mixed, "mixed DIR SIZE SEED [DEPTH]"},
	{"hold", 3, cmd_hold, "hold PATH SIZE SEED [BLOCK]"},
	{"once", 3, cmd_once, "once PATH SIZE SEED"},
	{"put", 2, cmd_put, "put LOCAL PATH"},
	{"max", 0, cmd_max, "max"},
};

static int usage(void)
{
	fprintf(stderr, "usage: nfs_client URL COMMAND ...\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stderr, "    %s\n", commands[i].usage);
	return 2;
}

int main(int argc, char **argv)
{
	struct client client = {0};
	int status = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return usage();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[2], commands[i].name))
			continue;
		if (argc - 3 < commands[i].min_args)
			return usage();
		if (!client_open(&client, argv[1]))
			status = commands[i].run(&client, argc - 3, argv + 3);
		client_close(&client);
		return status;
	}
	return usage();
}
