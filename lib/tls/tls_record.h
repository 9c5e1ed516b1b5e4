/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of records (RFC 8446 section 5). */
#ifndef TLS_TLS_RECORD_H
#define TLS_TLS_RECORD_H

#define TLS_HEADER_BYTES 5u
#define TLS_RECORD_BYTES 16384u /* of plaintext */
/* RFC 8446 section 5.2: what encryption adds, at most. */
#define TLS_EXPANSION_BYTES (TLS_HEADER_BYTES + 256u)
/* Input of one system call. */
#define TLS_READ_BUFFER_BYTES (4u * (TLS_RECORD_BYTES + TLS_EXPANSION_BYTES))

#endif
