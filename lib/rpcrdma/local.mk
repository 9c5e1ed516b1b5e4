noinst_LIBRARIES += lib/rpcrdma/librpcrdma.a
lib_rpcrdma_librpcrdma_a_SOURCES = \
	lib/rpcrdma/header.c \
	lib/rpcrdma/header.h \
	lib/rpcrdma/private_data.c \
	lib/rpcrdma/private_data.h \
	lib/rpcrdma/proto.h \
	lib/rpcrdma/rdma_leg.h
