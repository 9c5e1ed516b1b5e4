// SPDX-License-Identifier: BSD-3-Clause
/* What the handshake and the records of a TLS stream share. */
#include <stdlib.h>

#include "tls/tls_stream_priv.h"

void tls_state_watch(struct tls_stream *tls, unsigned events)
{
	if (tls->inner_watched == events)
		return;
	tls->inner_watched = events;
	stream_watch(tls->inner, events);
}

void tls_state_free(struct tls_stream *tls)
{
	stream_free(tls->inner);
	SSL_free(tls->ssl);
	tls_bytes_fini(&tls->in);
	tls_bytes_fini(&tls->pending);
	tls_context_put(tls->context);
	free(tls);
}
