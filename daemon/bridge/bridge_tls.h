/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS of a bridge's client: the limits of handshakes, and the text about both peers for the log.
 *
 * The client leg executes the handshake (lib/rpctcp). Until its end the connection is half-open,
 * and no server is chosen: that follows the first Call.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_TLS_H
#define DAEMON_BRIDGE_BRIDGE_TLS_H

#include "daemon/bridge/bridge_state.h"

#define BRIDGE_TLS_TEXT_BYTES 320u

/*
 * bridge_client_securing - Counts the handshake of the client; for leg_events. Returns NULL; or the
 * limit that it would exceed, as part of a sentence.
 */
const char *bridge_client_securing(void *arg);
/*
 * bridge_client_secured - Counts the handshake as completed; for leg_events. If the client leg closes
 * instead, bridge_close.c does.
 */
void bridge_client_secured(void *arg);

/*
 * bridge_tls_text - Writes ", TLS from client.example, TLS to server.example" for the legs that use
 * TLS. Returns @text.
 */
const char *bridge_tls_text(const struct leg_info *client, const struct leg_info *server,
			    char text[BRIDGE_TLS_TEXT_BYTES]);

#endif
