/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the first device in memory; standin.so calls it by name. */
#ifndef TESTS_STANDIN_MEMORY_REMOVE_H
#define TESTS_STANDIN_MEMORY_REMOVE_H

enum memory_removal {
	/* The device is dead immediately; uverbs and the connection manager both report it. */
	MEMORY_DISASSOCIATES,
	/* The connection manager reports it; the device works until processes have closed it. */
	MEMORY_WAITS,
	/* The device is dead, and uverbs reports it; it is removed only when it returns. */
	MEMORY_FATAL,
};

/** memory_remove - Removes the device, until the file named by STANDIN_RELEASE exists. */
void memory_remove(enum memory_removal how);

#endif
