noinst_LIBRARIES += lib/fabric/libfabric.a
lib_fabric_libfabric_a_SOURCES = \
	lib/fabric/coverage.c \
	lib/fabric/coverage.h \
	lib/fabric/fabric.h \
	lib/fabric/buf_pool.c \
	lib/fabric/buf_pool.h \
	lib/fabric/posted_recvs.c \
	lib/fabric/posted_recvs.h
lib_fabric_libfabric_a_CFLAGS = $(PROJECT_CFLAGS)
