noinst_LIBRARIES += lib/fabric/libfabric.a
lib_fabric_libfabric_a_SOURCES = \
	lib/fabric/coverage.c \
	lib/fabric/coverage.h \
	lib/fabric/fabric.h \
	lib/fabric/pool.c \
	lib/fabric/pool.h \
	lib/fabric/recv_runs.c \
	lib/fabric/recv_runs.h
lib_fabric_libfabric_a_CFLAGS = $(PROJECT_CFLAGS)
