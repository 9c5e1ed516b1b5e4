/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates for tests, made by openssl(1) when the test runs. */
#ifndef TESTS_LIB_TLS_FILES_H
#define TESTS_LIB_TLS_FILES_H

/**
 * tls_files_authority - Makes an authority: DIR/NAME.pem and DIR/NAME.key.
 */
void tls_files_authority(const char *dir, const char *name);
/**
 * tls_files_sign - Makes a key DIR/NAME.key, and its certificate DIR/NAME.pem
 * @authority: a name of tls_files_authority()
 * @names: for example "DNS:a.example.net,IP:127.0.0.1"
 * @days:  until the certificate expires; negative: it has expired
 */
void tls_files_sign(const char *dir, const char *authority, const char *name, const char *names,
		    int days);
/** tls_files_remove - Removes such a directory with its files. */
void tls_files_remove(const char *dir);

#endif
