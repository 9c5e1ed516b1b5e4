noinst_LIBRARIES += lib/stream/libstream.a
lib_stream_libstream_a_SOURCES = \
	lib/stream/reserved_ports.c \
	lib/stream/reserved_ports.h \
	lib/stream/proxy_protocol.c \
	lib/stream/proxy_protocol.h \
	lib/stream/tcp_stream.c \
	lib/stream/tcp_stream.h \
	lib/stream/tcp_connect.c \
	lib/stream/tcp_connect.h \
	lib/stream/stream.h \
	lib/stream/return_route.c \
	lib/stream/return_route.h
lib_stream_libstream_a_CFLAGS = $(PROJECT_CFLAGS)
