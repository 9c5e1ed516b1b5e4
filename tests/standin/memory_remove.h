/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the first device in memory; standin.so calls it by its name. */
#ifndef TESTS_STANDIN_MEMORY_REMOVE_H
#define TESTS_STANDIN_MEMORY_REMOVE_H

enum memory_removal {
	MEMORY_DISASSOCIATES, /* the device is dead at once, and processes are told twice: by uverbs, and by the connection manager */
	MEMORY_WAITS, /* the connection manager tells, and the device works until processes have closed it */
	MEMORY_FATAL, /* the device is dead, and uverbs tells; it is removed only when it comes back */
};

/** memory_remove - remove the device, until the file is there that STANDIN_RELEASE names. */
void memory_remove(enum memory_removal how);

#endif
