noinst_LIBRARIES += lib/fabric/verbs/libverbs-fabric.a
lib_fabric_verbs_libverbs_fabric_a_SOURCES = \
	lib/fabric/verbs/async.c \
	lib/fabric/verbs/async.h \
	lib/fabric/verbs/bury.c \
	lib/fabric/verbs/bury.h \
	lib/fabric/verbs/command.c \
	lib/fabric/verbs/command.h \
	lib/fabric/verbs/cq.c \
	lib/fabric/verbs/cq.h \
	lib/fabric/verbs/device.c \
	lib/fabric/verbs/device.h \
	lib/fabric/verbs/domain.c \
	lib/fabric/verbs/domain.h \
	lib/fabric/verbs/hold.c \
	lib/fabric/verbs/hold.h \
	lib/fabric/verbs/key.c \
	lib/fabric/verbs/key.h \
	lib/fabric/verbs/listen.c \
	lib/fabric/verbs/listen.h \
	lib/fabric/verbs/memlock.c \
	lib/fabric/verbs/probe.c \
	lib/fabric/verbs/probe.h \
	lib/fabric/verbs/qp.c \
	lib/fabric/verbs/qp.h \
	lib/fabric/verbs/queue.c \
	lib/fabric/verbs/queue.h \
	lib/fabric/verbs/recv.c \
	lib/fabric/verbs/recv.h \
	lib/fabric/verbs/setup.c \
	lib/fabric/verbs/setup.h \
	lib/fabric/verbs/trial.c \
	lib/fabric/verbs/trial.h \
	lib/fabric/verbs/verbs.c \
	lib/fabric/verbs/verbs.h \
	lib/fabric/verbs/verbs_config.h \
	lib/fabric/verbs/verbs_ep.c \
	lib/fabric/verbs/verbs_ep.h \
	lib/fabric/verbs/watch.c \
	lib/fabric/verbs/watch.h \
	lib/fabric/verbs/wr_id.h
lib_fabric_verbs_libverbs_fabric_a_CFLAGS = $(PROJECT_CFLAGS) $(VERBS_CFLAGS)
