noinst_LIBRARIES += lib/fabric/iwarp/libiwarp.a
lib_fabric_iwarp_libiwarp_a_SOURCES = \
	lib/fabric/iwarp/ddp.c \
	lib/fabric/iwarp/ddp.h \
	lib/fabric/iwarp/ending.c \
	lib/fabric/iwarp/engine.c \
	lib/fabric/iwarp/engine.h \
	lib/fabric/iwarp/engine_priv.h \
	lib/fabric/iwarp/fpdu.c \
	lib/fabric/iwarp/iwarp.c \
	lib/fabric/iwarp/iwarp.h \
	lib/fabric/iwarp/iwarp_config.h \
	lib/fabric/iwarp/keys.c \
	lib/fabric/iwarp/keys.h \
	lib/fabric/iwarp/listener.c \
	lib/fabric/iwarp/listener.h \
	lib/fabric/iwarp/mpa.c \
	lib/fabric/iwarp/mpa.h \
	lib/fabric/iwarp/place.c \
	lib/fabric/iwarp/proto.h \
	lib/fabric/iwarp/random.c \
	lib/fabric/iwarp/random.h \
	lib/fabric/iwarp/reads.c \
	lib/fabric/iwarp/reason.c \
	lib/fabric/iwarp/reason.h \
	lib/fabric/iwarp/rx.c \
	lib/fabric/iwarp/rx_habit.c \
	lib/fabric/iwarp/rx_habit.h \
	lib/fabric/iwarp/rx_image.c \
	lib/fabric/iwarp/rx_image.h \
	lib/fabric/iwarp/rx_plan.c \
	lib/fabric/iwarp/setup.c \
	lib/fabric/iwarp/socket.c \
	lib/fabric/iwarp/socket.h \
	lib/fabric/iwarp/timers.c \
	lib/fabric/iwarp/tx.c \
	lib/fabric/iwarp/tx_batch.c \
	lib/fabric/iwarp/tx_batch.h
lib_fabric_iwarp_libiwarp_a_CFLAGS = $(PROJECT_CFLAGS)
