noinst_LIBRARIES += lib/fabric/iwarp/libiwarp.a
lib_fabric_iwarp_libiwarp_a_SOURCES = \
	lib/fabric/iwarp/iwarp.h
