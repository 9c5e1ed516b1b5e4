# A stand-in for RDMA devices (README.md). It is preloaded into a proxy, so it is built without sanitizers and hardening.
standin_sources = \
	tests/standin/cm.c \
	tests/standin/completions.c \
	tests/standin/device.c \
	tests/standin/fault.c \
	tests/standin/libs.c \
	tests/standin/ops.c \
	tests/standin/profile.c \
	tests/standin/verbs.c
standin_headers = \
	tests/standin/completions.h \
	tests/standin/device.h \
	tests/standin/fault.h \
	tests/standin/libs.h \
	tests/standin/ops.h \
	tests/standin/profile.h
memory_sources = \
	tests/standin/memory_cm.c \
	tests/standin/memory_cq.c \
	tests/standin/memory_device.c \
	tests/standin/memory_key.c \
	tests/standin/memory_qp.c \
	tests/standin/memory_remove.c
memory_headers = \
	tests/standin/memory.h \
	tests/standin/memory_ops.h \
	tests/standin/memory_remove.h
standin_preloads = tests/standin/standin.so tests/standin/memory.so
CLEANFILES += $(standin_preloads)
EXTRA_DIST += tests/standin/README.md $(standin_sources) $(standin_headers) \
	$(memory_sources) $(memory_headers)
STANDIN_CFLAGS = -std=gnu11 -O2 -g -Wall -fPIC -shared -pthread -U_FORTIFY_SOURCE
tests/standin/standin.so: $(standin_sources) $(standin_headers) tests/standin/memory_remove.h
	$(AM_V_CCLD)$(MKDIR_P) tests/standin && \
	$(CC) $(STANDIN_CFLAGS) -I$(srcdir) $(VERBS_CFLAGS) -o $@ $(addprefix $(srcdir)/,$(standin_sources)) -ldl
tests/standin/memory.so: $(memory_sources) $(memory_headers)
	$(AM_V_CCLD)$(MKDIR_P) tests/standin && \
	$(CC) $(STANDIN_CFLAGS) -I$(srcdir) $(VERBS_CFLAGS) -o $@ $(addprefix $(srcdir)/,$(memory_sources))

# Runs fabric_pair on the device in memory, in `make check`, which builds the programs of scripts.
EXTRA_DIST += tests/standin/pairs.sh
TESTS += tests/standin/pairs.sh
EXTRA_tests_lab_fabric_pair_DEPENDENCIES = $(standin_preloads)
