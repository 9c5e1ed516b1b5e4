// SPDX-License-Identifier: BSD-3-Clause
/* Tests how the records of a tap become a capture file. */
#include "daemon/tap/pcap_capture.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/config/config.h"
#include "daemon/tap/pcap_tcp.h"
#include "tests/lib/test.h"

#define EPOCH_US UINT64_C(1700000000000000)

/* A capture, and what its last step has written. */
struct scene {
	struct tap_request request;
	struct pcap_capture *capture;
	struct pcapng_writer out;
	uint8_t *room;
	uint64_t whole_bytes; /* by all steps */
};

static void step(struct scene *scene)
{
	pcapng_writer_init(&scene->out, scene->room, pcap_capture_max_bytes(&scene->request));
}

static void stepped(struct scene *scene)
{
	ck_assert(!scene->out.failed);
	scene->whole_bytes += pcapng_written_bytes(&scene->out);
}

static void begin(struct scene *scene, uint32_t snap_bytes, uint64_t max_bytes)
{
	*scene = (struct scene){.request = {.kind = TAP_MESSAGES,
					    .service = "nfs",
					    .operation = NFS_OPERATION_COUNT,
					    .snap_bytes = snap_bytes,
					    .max_bytes = max_bytes}};
	scene->capture = pcap_capture_new(&scene->request, EPOCH_US);
	scene->room = malloc(pcap_capture_max_bytes(&scene->request));
	ck_assert_ptr_nonnull(scene->capture);
	ck_assert_ptr_nonnull(scene->room);
	step(scene);
	pcap_capture_begin(scene->capture, &scene->out);
	stepped(scene);
}

static void end(struct scene *scene)
{
	step(scene);
	pcap_capture_end(scene->capture, 5, "ended by a test", &scene->out);
	stepped(scene);
	ck_assert_uint_le(pcapng_written_bytes(&scene->out), PCAP_CAPTURE_END_BYTES);
}

static void over(struct scene *scene)
{
	pcap_capture_free(scene->capture);
	free(scene->room);
}

static struct tap_message message(enum tap_message_what what, uint64_t connection)
{
	struct tap_message message = {
		.what = what,
		.connection = connection,
		.at_us = 7,
		.service = "nfs",
		.client_fabric = "tcp",
		.server_fabric = "iwarp",
		.operation = NFS_OPERATION_READ,
		.call_forms = {MESSAGE_FORM_RECORD, MESSAGE_FORM_SHORT},
		.reply_forms = {MESSAGE_FORM_RECORD, MESSAGE_FORM_CHUNKED},
		.len_bytes = 40,
		.kept_bytes = 40,
	};
	struct sockaddr_in *addr = (struct sockaddr_in *)&message.client;

	*addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(700)};
	addr->sin_addr.s_addr = htonl(0x0a000001);
	addr = (struct sockaddr_in *)&message.local;
	*addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(2049)};
	addr->sin_addr.s_addr = htonl(0x0a000002);
	return message;
}

/* Returns what pcap_capture_message() does. */
static bool write(struct scene *scene, const struct tap_message *message)
{
	uint8_t *data = calloc(1, message->kept_bytes + 1);
	bool goes_on;

	ck_assert_ptr_nonnull(data);
	step(scene);
	goes_on = pcap_capture_message(scene->capture, message, data, &scene->out);
	free(data);
	if (goes_on)
		stepped(scene);
	return goes_on;
}

static void write_one(struct scene *scene, enum tap_message_what what, uint64_t connection)
{
	struct tap_message one = message(what, connection);

	ck_assert(write(scene, &one));
}

/* Whether the last step has written that text. */
static bool says(const struct scene *scene, const char *text)
{
	return memmem(scene->room, pcapng_written_bytes(&scene->out), text, strlen(text));
}

/* The source port of the last packet that the last step has written. */
static unsigned last_port(const struct scene *scene)
{
	const uint8_t *at = scene->room, *block = at;
	uint32_t len;

	for (; at < scene->out.pos; at += le32toh(len)) {
		block = at;
		memcpy(&len, at + 4, sizeof(len));
	}
	return 256u * block[28 + 20] + block[28 + 21];
}

START_TEST(a_connection_begins_with_its_first_message)
{
	struct scene scene;

	begin(&scene, 1000, 1u << 20);
	write_one(&scene, TAP_MESSAGE_CALL, 17);
	ck_assert_uint_eq(scene.out.packets, 4);
	ck_assert(says(
		&scene,
		"connection 17 of service nfs: client 10.0.0.1:700 over tcp, server over iwarp"));
	ck_assert(says(&scene, "READ Call: from the client as record over tcp"));
	ck_assert_uint_eq(last_port(&scene), 700);
	write_one(&scene, TAP_MESSAGE_REPLY, 17);
	ck_assert_uint_eq(scene.out.packets, 1);
	ck_assert(says(
		&scene,
		"READ Reply: from the server as chunked over iwarp, to the client as record over tcp; "
		"the Call had gone to the server as short"));
	ck_assert_uint_eq(last_port(&scene), 2049);
	write_one(&scene, TAP_MESSAGE_END, 17);
	ck_assert_uint_eq(scene.out.packets, 3);
	write_one(&scene, TAP_MESSAGE_CALL, 17);
	ck_assert_uint_eq(scene.out.packets, 4);
	over(&scene);
}
END_TEST

START_TEST(a_call_before_there_is_a_server)
{
	struct tap_message call = message(TAP_MESSAGE_CALL, 1);
	struct scene scene;

	call.server_fabric = NULL;
	begin(&scene, 1000, 1u << 20);
	ck_assert(write(&scene, &call));
	ck_assert(says(&scene, "client 10.0.0.1:700 over tcp"));
	ck_assert(!says(&scene, "over tcp, server"));
	over(&scene);
}
END_TEST

START_TEST(callbacks_go_the_other_way)
{
	struct tap_message call = message(TAP_MESSAGE_CALL, 1),
			   reply = message(TAP_MESSAGE_REPLY, 1);
	struct scene scene;

	call.callback = reply.callback = true;
	begin(&scene, 1000, 1u << 20);
	ck_assert(write(&scene, &call));
	ck_assert(says(&scene, "READ Call: from the server as record over iwarp"));
	ck_assert_uint_eq(last_port(&scene), 2049);
	ck_assert(write(&scene, &reply));
	ck_assert(says(
		&scene,
		"from the client as chunked over tcp, to the server as record over iwarp; the Call had "
		"gone to the client as short"));
	ck_assert_uint_eq(last_port(&scene), 700);
	over(&scene);
}
END_TEST

START_TEST(missed_messages_are_reported_once_and_at_the_end)
{
	static const uint8_t dropped[] = {5, 0, 8, 0, 4, 0, 0, 0, 0, 0, 0, 0};
	struct scene scene;

	begin(&scene, 1000, 1u << 20);
	write_one(&scene, TAP_MESSAGE_CALL, 1);
	ck_assert(!says(&scene, "could not be kept"));
	pcap_capture_missed(scene.capture, 2);
	pcap_capture_missed(scene.capture, 1);
	write_one(&scene, TAP_MESSAGE_END, 2);
	write_one(&scene, TAP_MESSAGE_REPLY, 1);
	ck_assert(says(&scene, "3 messages before this could not be kept"));
	write_one(&scene, TAP_MESSAGE_CALL, 1);
	ck_assert(!says(&scene, "could not be kept"));
	pcap_capture_missed(scene.capture, 1);
	end(&scene);
	ck_assert(says(&scene, "4 messages could not be kept"));
	ck_assert(!says(&scene, "as long as was wanted"));
	ck_assert_ptr_nonnull(
		memmem(scene.room, pcapng_written_bytes(&scene.out), dropped, sizeof(dropped)));
	over(&scene);
}
END_TEST

START_TEST(the_end_of_a_connection_without_messages_writes_nothing)
{
	struct scene scene;

	begin(&scene, 1000, 1u << 20);
	write_one(&scene, TAP_MESSAGE_END, 3);
	ck_assert_uint_eq(pcapng_written_bytes(&scene.out), 0);
	over(&scene);
}
END_TEST

/* Whatever the limit is, it holds, and is used. */
START_TEST(the_file_is_no_longer_than_is_wanted)
{
	for (uint64_t max = 3000; max < 9000; max += 7) {
		struct tap_message call = message(TAP_MESSAGE_CALL, 1);
		struct scene scene;

		begin(&scene, 1000, max);
		while (write(&scene, &call))
			;
		end(&scene);
		ck_assert(says(&scene, "0 messages could not be kept; ended by a test"));
		ck_assert_uint_le(scene.whole_bytes, max);
		ck_assert_uint_ge(scene.whole_bytes + PCAP_CAPTURE_END_BYTES + 500, max);
		over(&scene);
	}
}
END_TEST

START_TEST(connections_have_a_limit)
{
	struct scene scene;

	begin(&scene, 1000, UINT64_MAX / 2);
	for (uint64_t i = 0; i < PCAP_CAPTURE_CONNECTIONS_MAX; i++)
		write_one(&scene, TAP_MESSAGE_CALL, i);
	write_one(&scene, TAP_MESSAGE_CALL, PCAP_CAPTURE_CONNECTIONS_MAX);
	ck_assert_uint_eq(scene.out.packets, 0);
	write_one(&scene, TAP_MESSAGE_END, 5);
	write_one(&scene, TAP_MESSAGE_CALL, PCAP_CAPTURE_CONNECTIONS_MAX);
	ck_assert_uint_eq(scene.out.packets, 4);
	ck_assert(says(&scene, "1 message before this could not be kept"));
	over(&scene);
}
END_TEST

/*
 * The longest service, comments and messages, whole and cut: step() gives no more room than that.
 */
START_TEST(the_longest_message_has_room)
{
	static const uint32_t lengths[] = {TAP_SNAP_MAX_BYTES, TAP_SNAP_MAX_BYTES + 1,
					   CONFIG_MESSAGE_MAX_BYTES};
	static const uint32_t snaps[] = {TAP_SNAP_MIN_BYTES, TAP_SNAP_BYTES, TAP_SNAP_MAX_BYTES};

	for (size_t i = 0; i < ARRAY_SIZE(snaps); i++) {
		struct scene scene;

		begin(&scene, snaps[i], UINT64_MAX / 2);
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
			struct tap_message reply = message(TAP_MESSAGE_REPLY, k);

			memset(reply.service, 'x', sizeof(reply.service) - 1);
			reply.len_bytes = lengths[k];
			reply.kept_bytes = pcap_tcp_kept_bytes(lengths[k], snaps[i]);
			pcap_capture_missed(scene.capture, UINT64_MAX / 8);
			ck_assert(write(&scene, &reply));
		}
		over(&scene);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("capture");
	TCase *tcase = tcase_create("capture");

	tcase_add_test(tcase, a_connection_begins_with_its_first_message);
	tcase_add_test(tcase, a_call_before_there_is_a_server);
	tcase_add_test(tcase, callbacks_go_the_other_way);
	tcase_add_test(tcase, missed_messages_are_reported_once_and_at_the_end);
	tcase_add_test(tcase, the_end_of_a_connection_without_messages_writes_nothing);
	tcase_add_test(tcase, the_file_is_no_longer_than_is_wanted);
	tcase_add_test(tcase, connections_have_a_limit);
	tcase_add_test(tcase, the_longest_message_has_room);
	suite_add_tcase(suite, tcase);
	return test_main(suite);
}
