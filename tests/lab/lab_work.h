/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lab_work: they print errors on standard output, and exit with 1. */
#ifndef TESTS_LAB_LAB_WORK_H
#define TESTS_LAB_LAB_WORK_H

#include <stddef.h>
#include <stdint.h>

/** fail - prints the message and ends the process with 1 */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/** fill - the same bytes for the same @seed, which is not 0 */
void fill(uint8_t *mem, size_t len_bytes, uint32_t seed);

/** write_all - all of @mem, in writes of at most @step_bytes; @what names the file in a complaint */
void write_all(int fd, const uint8_t *mem, size_t len_bytes, size_t step_bytes, const char *what);

/** read_all - up to @len_bytes, or what there is until the end. Returns the bytes read. */
size_t read_all(int fd, uint8_t *mem, size_t len_bytes, const char *what);

/** drop_pages - writes the file's pages back and drops them, so that the next read asks the server */
void drop_pages(int fd);

/**
 * load_run - writes files of seeded sizes and bytes into @dir until @total_bytes are written or SIGTERM comes
 *
 * Each file is synced or closed, then noted in the file @journal: what stands there was acknowledged. Earlier files are
 * read back now and then. Prints "file N" for each and "moment N" at @moments seeded counts of written bytes, one in
 * each of as many equal parts, and "done FILES" at the end.
 */
void load_run(const char *dir, uint32_t seed, uint64_t total_bytes, const char *journal,
	      unsigned moments);

/**
 * load_verify - what load_run() left in @dir, against its journal
 *
 * Every file of the journal must be there with every byte; the one that was being written may be there too, in any
 * state; nothing else may.
 */
void load_verify(const char *dir, uint32_t seed, const char *journal);

/**
 * lock_contend - two processes, one in each of two mounts of the same directory, want the same locks
 *
 * First in steps: a held lock refuses a try and delays a wait, and each sees what the other wrote. Then both
 * count up one number, @rounds times each, each time under a lock.
 */
void lock_contend(const char *dir_a, const char *dir_b, unsigned rounds);

/**
 * change_bytes - reads and writes a file past the cache, @turns times each, while its bytes change
 *
 * @mount and @server are the same directory, through the mount and as its server has it. First a second process writes the file there
 * while it is read through the mount, then it changes the memory that is written through the mount. In the end both must have
 * the same bytes.
 */
void change_bytes(const char *mount, const char *server, unsigned turns);

/** busy_read - @count processes read the file of @path, a small block at a time, until SIGTERM comes */
void busy_read(const char *path, unsigned count);

/**
 * meter_run - for each byte of standard input prints for how many nanoseconds the one processor of this machine has not been idle, until
 * that ends
 *
 * Interrupts, and what the kernel does in their wake, count wherever they come. Where a nanosecond of the clock is an instruction
 * (boot.sh), these are the instructions of the whole machine.
 */
void meter_run(void);

#endif
