noinst_LIBRARIES += lib/rpcrdma/librpcrdma.a
lib_rpcrdma_librpcrdma_a_SOURCES = \
	lib/rpcrdma/call_form.c \
	lib/rpcrdma/call_form.h \
	lib/rpcrdma/call_plan.c \
	lib/rpcrdma/call_plan.h \
	lib/rpcrdma/credits.c \
	lib/rpcrdma/credits.h \
	lib/rpcrdma/header.c \
	lib/rpcrdma/header.h \
	lib/rpcrdma/inline_limit.c \
	lib/rpcrdma/inline_limit.h \
	lib/rpcrdma/peer_profile.c \
	lib/rpcrdma/peer_profile.h \
	lib/rpcrdma/private_data.c \
	lib/rpcrdma/private_data.h \
	lib/rpcrdma/proto.h \
	lib/rpcrdma/rdma_leg.c \
	lib/rpcrdma/rdma_leg.h \
	lib/rpcrdma/rdma_leg_priv.h \
	lib/rpcrdma/rdma_recv.c \
	lib/rpcrdma/requester.c \
	lib/rpcrdma/requester.h \
	lib/rpcrdma/requester_ddp.c \
	lib/rpcrdma/requester_priv.h \
	lib/rpcrdma/requester_reply.c \
	lib/rpcrdma/responder.c \
	lib/rpcrdma/responder.h \
	lib/rpcrdma/responder_priv.h \
	lib/rpcrdma/responder_reply.c \
	lib/rpcrdma/work.c \
	lib/rpcrdma/work.h
