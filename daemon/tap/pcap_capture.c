// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/tap/pcap_capture.h"

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "daemon/base/address.h"
#include "daemon/base/humanize.h"
#include "daemon/config/config.h"
#include "daemon/tap/pcap_tcp.h"

#define COMMENTS 2u /* most comments of a packet */

/* A connection with messages in the file. */
struct captured {
	struct hash_node node; /* keyed by its number, which peers cannot choose */
	struct pcap_tcp tcp;
};

struct pcap_capture {
	struct tap_request request;
	uint64_t epoch_us;
	uint64_t written_bytes, packets;
	uint64_t missed, untold; /* all missed messages; those that no comment has reported yet */
	struct hash_table connections;
};

struct pcap_capture *pcap_capture_new(const struct tap_request *request, uint64_t epoch_us)
{
	struct pcap_capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return NULL;
	capture->request = *request;
	capture->epoch_us = epoch_us;
	hash_table_init(&capture->connections);
	return capture;
}

void pcap_capture_free(struct pcap_capture *capture)
{
	struct hash_node *node;
	size_t at = 0;

	if (!capture)
		return;
	while ((node = hash_table_any(&capture->connections, &at))) {
		hash_table_remove(&capture->connections, node);
		free(container_of(node, struct captured, node));
	}
	hash_table_fini(&capture->connections);
	free(capture);
}

size_t pcap_capture_max_bytes(const struct tap_request *request)
{
	/*
	 * The first message of a connection, and a long message that is cut, also write packets
	 * without data.
	 */
	return PCAP_TCP_ENDS_BYTES + 2 * COMMENTS * PCAPNG_COMMENT_BYTES +
	       pcap_tcp_message_bytes(request->snap_bytes, CONFIG_MESSAGE_MAX_BYTES);
}

/* ---- comments ---- */

/* The leg can be gone. */
static const char *fabric_name(const char *fabric)
{
	return fabric ? fabric : "none";
}

static void describe_connection(const struct tap_message *message, char text[PCAPNG_TEXT_BYTES])
{
	const char *server = message->server_fabric;
	char client[ADDRESS_TEXT_BYTES];

	snprintf(text, PCAPNG_TEXT_BYTES,
		 "connection %" PRIu64 " of service %s: client %s over %s%s%s", message->connection,
		 message->service, address_text((const struct sockaddr *)&message->client, client),
		 fabric_name(message->client_fabric), server ? ", server over " : "",
		 server ? server : "");
}

/* "READ Call: from the client as record over tcp". For a Reply, also how its Call was forwarded. */
static void describe_message(const struct tap_message *message, char text[PCAPNG_TEXT_BYTES])
{
	const char *const ends[2] = {"client", "server"};
	const char *const fabrics[2] = {fabric_name(message->client_fabric),
					fabric_name(message->server_fabric)};
	enum exchange_role origin = EXCHANGE_ORIGIN, target = EXCHANGE_TARGET;
	unsigned caller = message->callback, called = !message->callback;
	const char *operation = nfs_operation_name(message->operation);

	if (message->what == TAP_MESSAGE_CALL)
		snprintf(text, PCAPNG_TEXT_BYTES, "%s Call: from the %s as %s over %s", operation,
			 ends[caller], message_form_name(message->call_forms[origin]),
			 fabrics[caller]);
	else
		snprintf(text, PCAPNG_TEXT_BYTES,
			 "%s Reply: from the %s as %s over %s, to the %s as %s over %s; the Call "
			 "had gone to the %s as %s",
			 operation, ends[called], message_form_name(message->reply_forms[target]),
			 fabrics[called], ends[caller],
			 message_form_name(message->reply_forms[origin]), fabrics[caller],
			 ends[called], message_form_name(message->call_forms[target]));
}

static const char *describe_missed(uint64_t count, char text[PCAPNG_TEXT_BYTES])
{
	snprintf(text, PCAPNG_TEXT_BYTES, "%" PRIu64 " message%s before this could not be kept",
		 count, humanize_plural(count));
	return text;
}

/* ---- connections ---- */

static struct captured *find_captured(const struct pcap_capture *capture, uint64_t connection)
{
	struct hash_node *node = hash_table_first(&capture->connections, hash_number(connection));

	return node ? container_of(node, struct captured, node) : NULL;
}

static struct captured *begin_connection(struct pcap_capture *capture,
					 const struct tap_message *message, uint64_t at_us,
					 struct pcapng_writer *out)
{
	struct captured *captured = capture->connections.count < PCAP_CAPTURE_CONNECTIONS_MAX
					    ? calloc(1, sizeof(*captured))
					    : NULL;
	char text[PCAPNG_TEXT_BYTES];
	const char *const comments[] = {text, NULL};

	if (!captured)
		return NULL;
	pcap_tcp_init(&captured->tcp, (const struct sockaddr *)&message->client,
		      (const struct sockaddr *)&message->local, message->connection);
	hash_table_add(&capture->connections, &captured->node, hash_number(message->connection));
	describe_connection(message, text);
	pcap_tcp_open(&captured->tcp, out, at_us, comments);
	return captured;
}

static void write_message(const struct pcap_capture *capture, struct captured *captured,
			  const struct tap_message *message, const uint8_t *data, uint64_t at_us,
			  struct pcapng_writer *out)
{
	char text[PCAPNG_TEXT_BYTES], missed[PCAPNG_TEXT_BYTES];
	const char *comments[COMMENTS + 1] = {text};
	bool is_call = message->what == TAP_MESSAGE_CALL;
	const struct pcap_tcp_message rebuilt = {
		.from = is_call != message->callback ? PCAP_TCP_CLIENT : PCAP_TCP_SERVER,
		.at_us = at_us,
		.data = data,
		.len_bytes = message->len_bytes,
		.kept_bytes = message->kept_bytes,
		.comments = comments,
	};

	describe_message(message, text);
	if (capture->untold)
		comments[1] = describe_missed(capture->untold, missed);
	pcap_tcp_write_message(&captured->tcp, out, &rebuilt);
}

static void end_connection(struct pcap_capture *capture, struct captured *captured, uint64_t at_us,
			   struct pcapng_writer *out)
{
	pcap_tcp_close(&captured->tcp, out, at_us, NULL);
	hash_table_remove(&capture->connections, &captured->node);
	free(captured);
}

/* ---- the file ---- */

void pcap_capture_begin(struct pcap_capture *capture, struct pcapng_writer *out)
{
	const struct tap_request *request = &capture->request;
	char text[PCAPNG_TEXT_BYTES];

	snprintf(text, sizeof(text),
		 "RPC messages that passed the proxy, written as TCP connections; service: %s; "
		 "operation: %s; messages longer than %" PRIu32 " bytes are cut",
		 request->service[0] ? request->service : "any",
		 request->operation == NFS_OPERATION_COUNT ? "any"
							   : nfs_operation_name(request->operation),
		 request->snap_bytes);
	pcapng_begin(out, "rpcrdma-proxy " PACKAGE_VERSION, text, "rpcrdma-proxy");
	capture->written_bytes = pcapng_written_bytes(out);
}

/* Returns false if the message cannot be kept. */
static bool write_record(struct pcap_capture *capture, const struct tap_message *message,
			 const uint8_t *data, struct pcapng_writer *out)
{
	struct captured *captured = find_captured(capture, message->connection);
	uint64_t at_us = capture->epoch_us + message->at_us;

	if (message->what == TAP_MESSAGE_END) {
		if (captured)
			end_connection(capture, captured, at_us, out);
		return true;
	}
	if (!captured)
		captured = begin_connection(capture, message, at_us, out);
	if (!captured)
		return false;
	write_message(capture, captured, message, data, at_us, out);
	capture->untold = 0;
	return true;
}

bool pcap_capture_message(struct pcap_capture *capture, const struct tap_message *message,
			  const uint8_t *data, struct pcapng_writer *out)
{
	if (!write_record(capture, message, data, out)) {
		pcap_capture_missed(capture, 1);
		return true;
	}
	if (capture->written_bytes + pcapng_written_bytes(out) + PCAP_CAPTURE_END_BYTES >
	    capture->request.max_bytes)
		return false;
	capture->written_bytes += pcapng_written_bytes(out);
	capture->packets += out->packets;
	return true;
}

void pcap_capture_missed(struct pcap_capture *capture, uint64_t count)
{
	capture->missed += count;
	capture->untold += count;
}

void pcap_capture_end(struct pcap_capture *capture, uint64_t now_us, const char *why,
		      struct pcapng_writer *out)
{
	char text[PCAPNG_TEXT_BYTES];

	snprintf(text, sizeof(text), "%" PRIu64 " message%s could not be kept; %s", capture->missed,
		 humanize_plural(capture->missed), why);
	pcapng_end(out, capture->epoch_us + now_us, capture->packets, capture->missed, text);
}
