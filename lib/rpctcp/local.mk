noinst_LIBRARIES += lib/rpctcp/librpctcp.a
lib_rpctcp_librpctcp_a_SOURCES = \
	lib/rpctcp/tcp_call.c \
	lib/rpctcp/tcp_connect.c \
	lib/rpctcp/tcp_input.c \
	lib/rpctcp/tcp_leg.c \
	lib/rpctcp/tcp_leg.h \
	lib/rpctcp/tcp_leg_impl.h \
	lib/rpctcp/tcp_output.c
