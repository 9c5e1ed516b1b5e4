noinst_LIBRARIES += lib/rpctcp/librpctcp.a
lib_rpctcp_librpctcp_a_SOURCES = \
	lib/rpctcp/admit.c \
	lib/rpctcp/admit.h \
	lib/rpctcp/call.c \
	lib/rpctcp/call.h \
	lib/rpctcp/conn.c \
	lib/rpctcp/conn.h \
	lib/rpctcp/flight.c \
	lib/rpctcp/flight.h \
	lib/rpctcp/greeting.c \
	lib/rpctcp/greeting.h \
	lib/rpctcp/input.c \
	lib/rpctcp/input.h \
	lib/rpctcp/late.c \
	lib/rpctcp/late.h \
	lib/rpctcp/message.c \
	lib/rpctcp/message.h \
	lib/rpctcp/messages.c \
	lib/rpctcp/messages.h \
	lib/rpctcp/output.c \
	lib/rpctcp/output.h \
	lib/rpctcp/reading.c \
	lib/rpctcp/reading.h \
	lib/rpctcp/reply.c \
	lib/rpctcp/reply.h \
	lib/rpctcp/tcp_config.h \
	lib/rpctcp/tcp_end.c \
	lib/rpctcp/tcp_end.h \
	lib/rpctcp/tcp_leg.c \
	lib/rpctcp/tcp_leg.h \
	lib/rpctcp/tcp_leg_impl.h
lib_rpctcp_librpctcp_a_CFLAGS = $(PROJECT_CFLAGS)
