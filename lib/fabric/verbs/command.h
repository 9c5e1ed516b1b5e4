/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes the commands of a device: what its adapter or its driver may take any time for.
 *
 * Each device of a worker has a thread that executes them one after the other, in the order in which they were posted. The
 * worker's loop is told of each that was executed, in the same order. So a command finds done what those before it do, and a loop
 * that hears of one has heard of those before it.
 */
#ifndef FABRIC_VERBS_COMMAND_H
#define FABRIC_VERBS_COMMAND_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_commands_init - prepare a fabric to hear of commands that were executed. Returns 0 or a negative errno. */
int verbs_commands_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_commands_fini - free what that took; every command has come back. */
void verbs_commands_fini(struct verbs_fabric *fabric);
/** verbs_commands_start - start the thread of a device. Returns 0 or a negative errno. */
int verbs_commands_start(struct verbs_device *device) MUST_CHECK;
/** verbs_commands_stop - end the thread of a device, all of whose commands have come back. */
void verbs_commands_stop(struct verbs_device *device);
/**
 * verbs_command_post - execute a command
 * @command: not posted; the caller's again when @done is called
 * @run:     called on the device's thread; it may use what no other thread uses until @done
 * @done:    called on the loop's thread, and may free @command
 */
void verbs_command_post(struct verbs_device *device, struct verbs_command *command,
			void (*run)(struct verbs_command *command),
			void (*done)(struct verbs_command *command));
/** verbs_command_return - have done() of a command called that some thread has executed; any thread. */
void verbs_command_return(struct verbs_fabric *fabric, struct verbs_command *command);

#endif
