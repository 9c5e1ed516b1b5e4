noinst_LIBRARIES += lib/base/libbase.a
lib_base_libbase_a_SOURCES = \
	lib/base/account.c \
	lib/base/account.h \
	lib/base/be_bytes.h \
	lib/base/budget.c \
	lib/base/budget.h \
	lib/base/compiler.h \
	lib/base/counter.h \
	lib/base/crc32c.c \
	lib/base/crc32c.h \
	lib/base/durations.c \
	lib/base/durations.h \
	lib/base/first_bytes.c \
	lib/base/first_bytes.h \
	lib/base/foreign.c \
	lib/base/foreign.h \
	lib/base/hash_table.c \
	lib/base/hash_table.h \
	lib/base/keepalive.c \
	lib/base/keepalive.h \
	lib/base/least.h \
	lib/base/loop.c \
	lib/base/listen_socket.c \
	lib/base/listen_socket.h \
	lib/base/loop.h \
	lib/base/probes.h \
	lib/base/sockaddr.c \
	lib/base/sockaddr.h \
	lib/base/spares.c \
	lib/base/spares.h \
	lib/base/state.h
lib_base_libbase_a_CFLAGS = $(PROJECT_CFLAGS) $(ISAL_CFLAGS)
