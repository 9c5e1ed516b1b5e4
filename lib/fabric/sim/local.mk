noinst_LIBRARIES += lib/fabric/sim/libsim.a
lib_fabric_sim_libsim_a_SOURCES = \
	lib/fabric/sim/sim.c \
	lib/fabric/sim/sim.h \
	lib/fabric/sim/sim_ep.c \
	lib/fabric/sim/sim_key.c \
	lib/fabric/sim/sim_net.c \
	lib/fabric/sim/sim_priv.h \
	lib/fabric/sim/sim_wr.c
lib_fabric_sim_libsim_a_CFLAGS = $(PROJECT_CFLAGS)
