noinst_LIBRARIES += lib/rpctcp/librpctcp.a
lib_rpctcp_librpctcp_a_SOURCES = \
	lib/rpctcp/call_admission.c \
	lib/rpctcp/call_admission.h \
	lib/rpctcp/inflight.c \
	lib/rpctcp/inflight.h \
	lib/rpctcp/record_rx.c \
	lib/rpctcp/record_rx.h \
	lib/rpctcp/record_tx.c \
	lib/rpctcp/record_tx.h \
	lib/rpctcp/rx_call.c \
	lib/rpctcp/rx_call.h \
	lib/rpctcp/rx_reply.c \
	lib/rpctcp/rx_reply.h \
	lib/rpctcp/rx_sniff.c \
	lib/rpctcp/rx_sniff.h \
	lib/rpctcp/tcp_close.c \
	lib/rpctcp/tcp_close.h \
	lib/rpctcp/tcp_config.h \
	lib/rpctcp/tcp_conn.c \
	lib/rpctcp/tcp_conn.h \
	lib/rpctcp/tcp_leg.c \
	lib/rpctcp/tcp_leg.h \
	lib/rpctcp/tcp_leg_priv.h \
	lib/rpctcp/tcp_rx.c \
	lib/rpctcp/tcp_rx.h \
	lib/rpctcp/tcp_tls.c \
	lib/rpctcp/tcp_tls.h
lib_rpctcp_librpctcp_a_CFLAGS = $(PROJECT_CFLAGS)
