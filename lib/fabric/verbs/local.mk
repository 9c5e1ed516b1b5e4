noinst_LIBRARIES += lib/fabric/verbs/libverbs-fabric.a
lib_fabric_verbs_libverbs_fabric_a_SOURCES = \
	lib/fabric/verbs/aside.c \
	lib/fabric/verbs/device.c \
	lib/fabric/verbs/ep.c \
	lib/fabric/verbs/key.c \
	lib/fabric/verbs/listen.c \
	lib/fabric/verbs/poll.c \
	lib/fabric/verbs/qp.c \
	lib/fabric/verbs/queue.c \
	lib/fabric/verbs/verbs.c \
	lib/fabric/verbs/verbs.h \
	lib/fabric/verbs/verbs_priv.h
lib_fabric_verbs_libverbs_fabric_a_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS)
