noinst_LIBRARIES += lib/rpc/librpc.a
lib_rpc_librpc_a_SOURCES = \
	lib/rpc/call_identity.c \
	lib/rpc/call_identity.h \
	lib/rpc/call_verdict.c \
	lib/rpc/call_verdict.h \
	lib/rpc/facts.c \
	lib/rpc/facts.h \
	lib/rpc/msg.c \
	lib/rpc/msg.h \
	lib/rpc/pieces.c \
	lib/rpc/pieces.h \
	lib/rpc/record.c \
	lib/rpc/record.h \
	lib/rpc/xdr.c \
	lib/rpc/xdr.h
lib_rpc_librpc_a_CFLAGS = $(PROJECT_CFLAGS)
