noinst_LIBRARIES += lib/leg/libleg.a
lib_leg_libleg_a_SOURCES = \
	lib/leg/exchange.c \
	lib/leg/exchange.h \
	lib/leg/leg.c \
	lib/leg/leg.h
lib_leg_libleg_a_CFLAGS = $(PROJECT_CFLAGS)
