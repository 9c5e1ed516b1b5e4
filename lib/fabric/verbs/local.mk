noinst_LIBRARIES += lib/fabric/verbs/libverbs-fabric.a
lib_fabric_verbs_libverbs_fabric_a_SOURCES = \
	lib/fabric/verbs/async_event.c \
	lib/fabric/verbs/async_event.h \
	lib/fabric/verbs/ep_destroy.c \
	lib/fabric/verbs/ep_destroy.h \
	lib/fabric/verbs/command.c \
	lib/fabric/verbs/command.h \
	lib/fabric/verbs/cq.c \
	lib/fabric/verbs/cq.h \
	lib/fabric/verbs/device.c \
	lib/fabric/verbs/device.h \
	lib/fabric/verbs/pd.c \
	lib/fabric/verbs/pd.h \
	lib/fabric/verbs/event_lock.c \
	lib/fabric/verbs/event_lock.h \
	lib/fabric/verbs/key.c \
	lib/fabric/verbs/key.h \
	lib/fabric/verbs/listener.c \
	lib/fabric/verbs/listener.h \
	lib/fabric/verbs/memlock.c \
	lib/fabric/verbs/ep_keepalive.c \
	lib/fabric/verbs/ep_keepalive.h \
	lib/fabric/verbs/qp.c \
	lib/fabric/verbs/qp.h \
	lib/fabric/verbs/send_queue.c \
	lib/fabric/verbs/send_queue.h \
	lib/fabric/verbs/recv_queue.c \
	lib/fabric/verbs/recv_queue.h \
	lib/fabric/verbs/ep_connect.c \
	lib/fabric/verbs/ep_connect.h \
	lib/fabric/verbs/mw_detect.c \
	lib/fabric/verbs/mw_detect.h \
	lib/fabric/verbs/verbs.c \
	lib/fabric/verbs/verbs.h \
	lib/fabric/verbs/verbs_config.h \
	lib/fabric/verbs/verbs_ep.c \
	lib/fabric/verbs/verbs_ep.h \
	lib/fabric/verbs/fd_watch.c \
	lib/fabric/verbs/fd_watch.h \
	lib/fabric/verbs/wr_id.h
lib_fabric_verbs_libverbs_fabric_a_CFLAGS = $(PROJECT_CFLAGS) $(VERBS_CFLAGS)
