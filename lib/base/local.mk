noinst_LIBRARIES += lib/base/libbase.a
lib_base_libbase_a_SOURCES = \
	lib/base/budget_account.c \
	lib/base/budget_account.h \
	lib/base/be_bytes.h \
	lib/base/budget.c \
	lib/base/budget.h \
	lib/base/compiler.h \
	lib/base/counters.h \
	lib/base/crc32c.c \
	lib/base/crc32c.h \
	lib/base/histogram.c \
	lib/base/histogram.h \
	lib/base/proto_sniff.c \
	lib/base/proto_sniff.h \
	lib/base/ip_transparent.c \
	lib/base/ip_transparent.h \
	lib/base/hash_table.c \
	lib/base/hash_table.h \
	lib/base/tcp_keepalive.c \
	lib/base/tcp_keepalive.h \
	lib/base/minmax.h \
	lib/base/loop.c \
	lib/base/listen_socket.c \
	lib/base/listen_socket.h \
	lib/base/loop.h \
	lib/base/usdt.h \
	lib/base/sockaddr.c \
	lib/base/sockaddr.h \
	lib/base/freelist.c \
	lib/base/freelist.h \
	lib/base/state_machine.h
lib_base_libbase_a_CFLAGS = $(PROJECT_CFLAGS) $(ISAL_CFLAGS)
