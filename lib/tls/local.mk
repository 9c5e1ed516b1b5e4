noinst_LIBRARIES += lib/tls/libtls.a
lib_tls_libtls_a_SOURCES = \
	lib/tls/tls_bio.c \
	lib/tls/tls_bytes.h \
	lib/tls/tls_cert.c \
	lib/tls/tls_cert.h \
	lib/tls/tls_context.c \
	lib/tls/tls_context.h \
	lib/tls/tls_context_priv.h \
	lib/tls/tls_error.c \
	lib/tls/tls_error.h \
	lib/tls/tls_handshake.c \
	lib/tls/tls_peer.h \
	lib/tls/tls_pem.c \
	lib/tls/tls_pem.h \
	lib/tls/tls_record.h \
	lib/tls/tls_state.c \
	lib/tls/tls_stream.c \
	lib/tls/tls_stream.h \
	lib/tls/tls_stream_priv.h
lib_tls_libtls_a_CFLAGS = $(PROJECT_CFLAGS) $(OPENSSL_CFLAGS)
