noinst_LIBRARIES += lib/fabric/sim/libsim.a
lib_fabric_sim_libsim_a_SOURCES = \
	lib/fabric/sim/sim.h
