noinst_LIBRARIES += lib/stream/libstream.a
lib_stream_libstream_a_SOURCES = \
	lib/stream/ports.c \
	lib/stream/ports.h \
	lib/stream/proxy_header.c \
	lib/stream/proxy_header.h \
	lib/stream/socket.c \
	lib/stream/socket.h \
	lib/stream/start.c \
	lib/stream/start.h \
	lib/stream/stream.h \
	lib/stream/way_back.c \
	lib/stream/way_back.h
lib_stream_libstream_a_CFLAGS = $(PROJECT_CFLAGS)
