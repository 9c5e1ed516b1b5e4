noinst_LIBRARIES += lib/fabric/iwarp/libiwarp.a
lib_fabric_iwarp_libiwarp_a_SOURCES = \
	lib/fabric/iwarp/ddp.c \
	lib/fabric/iwarp/ddp.h \
	lib/fabric/iwarp/teardown.c \
	lib/fabric/iwarp/engine.c \
	lib/fabric/iwarp/engine.h \
	lib/fabric/iwarp/engine_priv.h \
	lib/fabric/iwarp/fpdu.c \
	lib/fabric/iwarp/iwarp.c \
	lib/fabric/iwarp/iwarp.h \
	lib/fabric/iwarp/iwarp_config.h \
	lib/fabric/iwarp/stag_table.c \
	lib/fabric/iwarp/stag_table.h \
	lib/fabric/iwarp/listener.c \
	lib/fabric/iwarp/listener.h \
	lib/fabric/iwarp/mpa.c \
	lib/fabric/iwarp/mpa.h \
	lib/fabric/iwarp/placement.c \
	lib/fabric/iwarp/proto.h \
	lib/fabric/iwarp/random.c \
	lib/fabric/iwarp/random.h \
	lib/fabric/iwarp/read_queue.c \
	lib/fabric/iwarp/terminate_codes.c \
	lib/fabric/iwarp/terminate_codes.h \
	lib/fabric/iwarp/rx.c \
	lib/fabric/iwarp/rx_predict.c \
	lib/fabric/iwarp/rx_predict.h \
	lib/fabric/iwarp/rx_scatter.c \
	lib/fabric/iwarp/rx_scatter.h \
	lib/fabric/iwarp/rx_iov.c \
	lib/fabric/iwarp/mpa_handshake.c \
	lib/fabric/iwarp/iwarp_socket.c \
	lib/fabric/iwarp/iwarp_socket.h \
	lib/fabric/iwarp/timers.c \
	lib/fabric/iwarp/tx.c \
	lib/fabric/iwarp/tx_batch.c \
	lib/fabric/iwarp/tx_batch.h
lib_fabric_iwarp_libiwarp_a_CFLAGS = $(PROJECT_CFLAGS)
