// SPDX-License-Identifier: BSD-3-Clause
/* Tests what -t reports of the memory and descriptors that a configuration needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "leg/exchange.h"
#include "rpcrdma/memory_bound.h"
#include "rpcrdma/proto.h"
#include "tests/lib/test.h"

#define TCP_TO_TCP   "{ name = \"a\"; listen = \"tcp://:111\"; connect = \"tcp://filer:111\"; }"
#define TCP_TO_IWARP "{ name = \"b\"; listen = \"tcp://:112\"; connect = \"iwarp://filer\"; }"
#define IWARP_TO_TCP                                                                               \
	"{ name = \"c\"; listen = \"iwarp://:113\"; connect = \"tcp://filer:111\"; "               \
	"max_message_bytes = 16777216; max_connections = 10; }"

static const struct {
	const char *text, *said; /* without the name of the file */
} rows[] = {
	{"workers = 2; services = ( " TCP_TO_TCP " );",
	 "memory: 1024 MiB for RPCs in flight; each service is guaranteed 2.1 MiB of it (1 service)\n"
	 "memory: in addition, up to 64.0 MiB of unused buffers and up to 1.0 MiB of staging buffers\n"
	 "service a: largest message 64.06 MiB; memory_limit_mib allows 7 concurrent RPCs with Call and Reply of that size, or 478 with Call and Reply of 1.06 MiB\n"
	 "service a: in addition, each connection uses up to 5.0 MiB, all 32716 of max_connections up to "
	 "164666 MiB\n"
	 "service a: max_connections = \"auto\" is 32716, by the limit of descriptors (LimitNOFILE= in the "
	 "unit)\n"
	 "descriptors: 1024 connections are guaranteed and need 2768 descriptors; the limit is "
	 "65536\n"},
	/* A share: half of what the parts leave. More workers keep and read into more. */
	{"workers = 64; services = ( " TCP_TO_IWARP ", " IWARP_TO_TCP " );",
	 "memory: 1024 MiB for RPCs in flight; each service is guaranteed 2.1 MiB of it (2 services)\n"
	 "memory: in addition, up to 137.0 MiB of unused buffers and up to 64.0 MiB of staging buffers\n"
	 "service b: largest message 64.06 MiB; memory_limit_mib allows 3 concurrent RPCs with Call and Reply of that size, or 237 with Call and Reply of 1.06 MiB, while other services are idle\n"
	 "service b: in addition, each connection uses up to 4.7 MiB, all 32560 of max_connections up to "
	 "153993 MiB\n"
	 "service c: largest message 16.00 MiB; memory_limit_mib allows 15 concurrent RPCs with Call and Reply of that size, or 233 with Call and Reply of 1.06 MiB, while other services are idle\n"
	 "service c: in addition, each connection uses up to 6.8 MiB, all 10 of max_connections up to "
	 "68 MiB\n"
	 "service b: max_connections = \"auto\" is 32560, by the limit of descriptors (LimitNOFILE= in the "
	 "unit)\n"
	 "descriptors: 1034 connections are guaranteed and need 3628 descriptors; the limit is "
	 "65536\n"},
	/* Of the server's end alone; iwarp:// is no device's. */
	{"workers = 2; services = ( { name = \"d\"; listen = \"iwarp://:114\"; connect = \"rdma://filer\"; "
	 "max_connections = 10; } );",
	 "memory: 1024 MiB for RPCs in flight; each service is guaranteed 2.1 MiB of it (1 service)\n"
	 "memory: in addition, up to 512.0 MiB of unused buffers and up to 1.0 MiB of staging buffers\n"
	 "service d: largest message 64.06 MiB; memory_limit_mib allows 7 concurrent RPCs with Call and Reply of that size, or 463 with Call and Reply of 1.06 MiB\n"
	 "service d: in addition, each connection uses up to 6.5 MiB, all 10 of max_connections up to "
	 "65 MiB\n"
	 "service d: on RDMA devices each connection locks up to 0.16 MiB for its queues and 0.69 MiB for "
	 "receives: 1,000 connections up to 0.8 GiB, 10,000 up to 8.3 GiB\n"
	 "descriptors: 10 connections are guaranteed and need 748 descriptors; the limit is "
	 "65536\n"},
};

START_TEST(the_memory_need_of_a_file_is_reported)
{
	char path[] = "/tmp/test-config-memory-XXXXXX", name[80], *said, *at;
	struct config *config;
	size_t len;
	FILE *file = fdopen(mkstemp(path), "w"), *out = open_memstream(&said, &len);

	fputs(rows[_i].text, file);
	fclose(file);
	ck_assert_int_eq(config_load(path, out, &config), 0);
	/* Whatever host the test runs on. */
	config->host = (struct host_limits){.descriptors = 65536};
	config_limits_resolve(config);
	config_memory_print(config, out);
	config_limits_print(config, out);
	config_descriptors_print(config, out);
	fclose(out);
	unlink(path);
	config_free(config);
	snprintf(name, sizeof(name), "%s: ", path);
	while ((at = strstr(said, name)))
		memmove(at, at + strlen(name), strlen(at + strlen(name)) + 1);
	ck_assert_str_eq(said, rows[_i].said);
	free(said);
}
END_TEST

/* What is kept of Replies that are read counts for whom they may be lent to. */
START_TEST(replies_by_read_chunk_need_memory_in_addition_to_the_limit)
{
	struct service_config service = {
		.listen.transport = TRANSPORT_TCP,
		.connect.transport = TRANSPORT_IWARP,
		.credits = 128,
		.inline_threshold_bytes = 4096,
	};
	size_t without = config_memory_uncharged_bytes(&service);

	service.listen_compat = DIALECT_DRAFT03;
	ck_assert_uint_eq(config_memory_uncharged_bytes(&service), without);
	service.connect_compat = DIALECT_DRAFT03;
	ck_assert_uint_gt(config_memory_uncharged_bytes(&service), without + 128 * 3 * 4096);
	service.connect.transport = TRANSPORT_TCP;
	service.listen.transport = TRANSPORT_IWARP;
	service.connect_compat = DIALECT_RFC8166;
	without = config_memory_uncharged_bytes(&service);
	service.connect_compat = DIALECT_DRAFT03;
	ck_assert_uint_eq(config_memory_uncharged_bytes(&service), without);
	/* Another receive for each RDMA_DONE. */
	service.listen_compat = DIALECT_RFC8166;
	without = config_memory_uncharged_bytes(&service);
	service.listen_compat = DIALECT_DRAFT03;
	ck_assert_uint_gt(config_memory_uncharged_bytes(&service), without + 128 * 4096);
}
END_TEST

/*
 * A server that is asked in version two may send a Reply inline that is as long as receives may
 * become.
 */
START_TEST(a_reply_can_come_inline_up_to_the_receive_size)
{
	struct service_config service = {.connect = {.transport = TRANSPORT_IWARP},
					 .inline_threshold_bytes = 1024,
					 .connect_version = 2,
					 .characteristics = true,
					 .receive_max_bytes = 65536};
	struct reply_memory room = config_memory_reply_space(&service);

	ck_assert_uint_eq(room.extra_bytes, 65536 - 28);
	ck_assert_uint_eq(room.margin_bytes, 4096 - 28 - 24);
	service.characteristics = false;
	room = config_memory_reply_space(&service);
	ck_assert_uint_eq(room.extra_bytes, 4096 - 28);
	ck_assert_uint_eq(room.margin_bytes, 4096 - 28 - 24);
	service.characteristics = true;
	service.connect_version = 1;
	room = config_memory_reply_space(&service);
	ck_assert_uint_eq(room.extra_bytes, 1024 - 28);
	ck_assert_uint_eq(room.margin_bytes, 1024 - 28 - 24);
}
END_TEST

/*
 * What comes around a payload has room on both sides: a READ is not to take half a MiB beside its
 * data.
 */
START_TEST(the_overhead_of_a_payload_does_not_grow_with_the_send_size)
{
	struct service_config service = {.connect = {.transport = TRANSPORT_IWARP},
					 .inline_threshold_bytes = 262144,
					 .connect_version = 1};
	struct reply_memory room = config_memory_reply_space(&service);

	ck_assert_uint_eq(room.extra_bytes, 262144 - 28);
	ck_assert_uint_eq(room.margin_bytes, 4096 - 28 - 24);
}
END_TEST

/* Beside the limit: receives, and no more than headers and short bodies for each Send. */
START_TEST(the_memory_of_a_connection_depends_on_its_receives)
{
	struct service_config service = {.listen = {.transport = TRANSPORT_IWARP},
					 .connect = {.transport = TRANSPORT_TCP},
					 .credits = 64};
	const size_t recvs = 64 + 16 + 8;
	size_t bytes[3];

	for (unsigned i = 0; i < 3; i++) {
		service.inline_threshold_bytes = 8192u << 5 * i / 2;
		bytes[i] = config_memory_uncharged_bytes(&service);
	}
	ck_assert_uint_eq(service.inline_threshold_bytes, 262144);
	ck_assert_uint_ge(bytes[2] - bytes[0], recvs * (262144 - 8192));
	ck_assert_uint_le(bytes[2] - bytes[0], 2 * recvs * (262144 - 8192));
	ck_assert_uint_gt(bytes[1], bytes[0]);
}
END_TEST

/* A6.2-9: for the longest header beside what the configuration program tells. */
START_TEST(memory_that_depends_on_the_configuration_is_counted)
{
	struct service_config plain = {.listen = {.transport = TRANSPORT_IWARP},
				       .connect = {.transport = TRANSPORT_IWARP},
				       .inline_threshold_bytes = 65536,
				       .connect_version = 1,
				       .credits = 64};
	struct service_config told = plain;

	told.config_protocol = true;
	ck_assert_uint_eq(config_memory_reply_space(&told).extra_bytes,
			  config_memory_reply_space(&plain).extra_bytes + RDMA_HEADER_EXTRA_BYTES);
	/* 64 receives, at least, at both ends. */
	ck_assert_uint_ge(config_memory_uncharged_bytes(&told),
			  config_memory_uncharged_bytes(&plain) + 2 * 64 * RDMA_HEADER_EXTRA_BYTES);
	ck_assert_uint_ge(config_memory_buffer_bytes(&told), 65536 + RDMA_HEADER_EXTRA_BYTES);
}
END_TEST

/* Messages may be limited to less than what receives are raised to, or begin with. */
START_TEST(a_pool_has_buffers_for_messages_and_for_receives_of_any_size)
{
	struct service_config service = {.max_message_bytes = 16384,
					 .inline_threshold_bytes = 4096,
					 .receive_max_bytes = 4096};

	ck_assert_uint_eq(config_memory_buffer_bytes(&service), rpc_msg_cost_bytes(16384));
	service.receive_max_bytes = 262144;
	ck_assert_uint_ge(config_memory_buffer_bytes(&service), 262144);
	service.receive_max_bytes = 4096;
	service.inline_threshold_bytes = 262144;
	ck_assert_uint_ge(config_memory_buffer_bytes(&service), 262144);
	service.max_message_bytes = 1u << 20;
	ck_assert_uint_eq(config_memory_buffer_bytes(&service), rpc_msg_cost_bytes(1u << 20));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_memory");
	TCase *tc = tcase_create("config_memory");

	tcase_add_loop_test(tc, the_memory_need_of_a_file_is_reported, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(tc, replies_by_read_chunk_need_memory_in_addition_to_the_limit);
	tcase_add_test(tc, memory_that_depends_on_the_configuration_is_counted);
	tcase_add_test(tc, a_reply_can_come_inline_up_to_the_receive_size);
	tcase_add_test(tc, the_overhead_of_a_payload_does_not_grow_with_the_send_size);
	tcase_add_test(tc, the_memory_of_a_connection_depends_on_its_receives);
	tcase_add_test(tc, a_pool_has_buffers_for_messages_and_for_receives_of_any_size);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
