noinst_LIBRARIES += lib/rpc/librpc.a
lib_rpc_librpc_a_SOURCES = \
	lib/rpc/call_identity.c \
	lib/rpc/call_identity.h \
	lib/rpc/call_check.c \
	lib/rpc/call_check.h \
	lib/rpc/call_info.c \
	lib/rpc/call_info.h \
	lib/rpc/rpc_header.c \
	lib/rpc/rpc_header.h \
	lib/rpc/starttls.c \
	lib/rpc/starttls.h \
	lib/rpc/xdr_sg.c \
	lib/rpc/xdr_sg.h \
	lib/rpc/record_mark.c \
	lib/rpc/record_mark.h \
	lib/rpc/xdr.c \
	lib/rpc/xdr.h
lib_rpc_librpc_a_CFLAGS = $(PROJECT_CFLAGS)
