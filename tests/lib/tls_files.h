/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a directory of certificates with their keys (tests/lib/certificate.h). */
#ifndef TESTS_LIB_TLS_FILES_H
#define TESTS_LIB_TLS_FILES_H

/* "/tmp/…", from tls_files_setup() to tls_files_teardown(). */
extern char tls_files_dir[];

/** tls_files_setup - Makes the directory, and an authority in it: ca.pem and ca.key. */
void tls_files_setup(void);
/** tls_files_teardown - Removes the directory with all files. */
void tls_files_teardown(void);
/**
 * tls_files_sign - Makes or replaces a pair that the authority has signed: NAME.pem and NAME.key
 * @names: for example "DNS:a.example.net,IP:127.0.0.1"
 * @days:  until the certificate expires; negative: it has expired
 */
void tls_files_sign(const char *name, const char *names, int days);
/**
 * tls_files_text - Returns @text with the directory in place of each '@'; valid until the next
 * call.
 */
const char *tls_files_text(const char *text);
/** tls_files_run - Runs a command in the directory, which must succeed. */
void tls_files_run(const char *command);

#endif
