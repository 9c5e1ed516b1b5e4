/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lab_work: they print errors on standard output, and exit with 1. */
#ifndef TESTS_LAB_LAB_WORK_H
#define TESTS_LAB_LAB_WORK_H

#include <stddef.h>
#include <stdint.h>

/** fail - Prints the message and ends the process with 1 */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/** fill - Fills with the same bytes for the same @seed, which is not 0 */
void fill(uint8_t *mem, size_t len_bytes, uint32_t seed);

/**
 * write_all - Writes all of @mem, in writes of at most @step_bytes; error messages name the file
 * @what
 */
void write_all(int fd, const uint8_t *mem, size_t len_bytes, size_t step_bytes, const char *what);

/** read_all - Reads up to @len_bytes, or to the end. Returns the bytes read. */
size_t read_all(int fd, uint8_t *mem, size_t len_bytes, const char *what);

/**
 * drop_pages - Writes the file's pages back and drops them, so that the next read asks the server
 */
void drop_pages(int fd);

/**
 * load_run - Writes files of seeded sizes and bytes into @dir until @total_bytes are written or
 * SIGTERM arrives
 *
 * Each file is synced or closed, then noted in the file @journal: the files in it were
 * acknowledged. Earlier files are read back now and then. Prints "file N" for each and "moment N"
 * at @moments seeded counts of written bytes, one in each of as many equal parts, and "done FILES"
 * at the end.
 */
void load_run(const char *dir, uint32_t seed, uint64_t total_bytes, const char *journal,
	      unsigned moments);

/**
 * load_verify - Compares the files of load_run() in @dir with its journal
 *
 * Every file of the journal must exist with every byte. The file that was being written can exist,
 * in any state; no other file can.
 */
void load_verify(const char *dir, uint32_t seed, const char *journal);

/**
 * lock_contend - Makes two processes, one in each of two mounts of the same directory, contend for
 * the same locks
 *
 * First in steps: a held lock makes a try fail and a wait block, and each process sees what the
 * other wrote. Then both increment one number, @rounds times each, each time under a lock.
 */
void lock_contend(const char *dir_a, const char *dir_b, unsigned rounds);

/**
 * change_bytes - Reads and writes a file past the cache, @turns times each, while its bytes change
 *
 * @mount and @server are the same directory, through the mount and on its server. First a second
 * process writes the file on the server while it is read through the mount, then it changes the
 * memory that is written through the mount. In the end both must have the same bytes.
 */
void change_bytes(const char *mount, const char *server, unsigned turns);

/**
 * busy_read - Makes @count processes read the file of @path, a small block at a time, until SIGTERM
 * arrives
 */
void busy_read(const char *path, unsigned count);

/**
 * meter_run - Prints, for each byte of standard input until its end, for how many nanoseconds the
 * only processor of this machine has not been idle
 *
 * Interrupts and the kernel's deferred work count wherever they occur. Where a nanosecond of the
 * clock is an instruction (boot.sh), these are the instructions of the whole machine.
 */
void meter_run(void);

#endif
