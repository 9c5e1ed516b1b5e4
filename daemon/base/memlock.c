// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/memlock.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57 /* Linux 5.6 */
#endif

int memlock_set_io_flusher(void)
{
	return prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) ? -errno : 0;
}

/* See capset(2): CAP_SYS_RESOURCE is in the first of two words. */
void memlock_drop_cap_sys_resource(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_SYS_RESOURCE, 0, 0);
	if (syscall(SYS_capget, &header, sets))
		return;
	sets[0].effective &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
	sets[0].permitted &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
	sets[0].inheritable &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
	(void)syscall(SYS_capset, &header, sets);
}

int memlock_all(void)
{
	return mlockall(MCL_CURRENT | MCL_FUTURE) ? -errno : 0;
}
