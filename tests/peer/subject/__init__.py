# SPDX-License-Identifier: BSD-3-Clause
"""The implementations that scenarios judge: our daemon, any server, or the peer itself.

Each has a Play, which is the other end for one scenario:

    connect(start)           a connection of the scenario's to it, a responder
    call(call), accepted     has it call, as a requester; its connections, which the scenario has not taken yet
    gone                     whether the requester has no connection now
    reverse(call)            has it call back
    server, answer(…)        what executes the Calls behind it; the answer to one that was held back
    pace                     by how much the times of the scenario's keys were multiplied, for a slow machine
    count()                  how many connections it has to that
    files                    handles of files there
    close()                  the scenario is over

Of any server only connect(), files, pace and close() can be had; .server is None.
"""
