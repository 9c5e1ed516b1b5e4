// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests an endpoint on a socket: how often it queries TCP's segment size, and how it uses the
 * result.
 */
#include <netinet/tcp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/test.h"
#include "tests/unit/iwarp_ends.h"

#define WRITE_BYTES (1u << 20)
#define WRITES      32u
#define CHANGE_AT   16u /* so many Writes have been done */

static int first_mss, later_mss;
static unsigned asked, done;

/* In place of the C library's: TCP says what the test wants. */
int getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
	long got = syscall(SYS_getsockopt, fd, level, option, value, len);

	if (got == 0 && level == IPPROTO_TCP && option == TCP_MAXSEG) {
		asked++;
		*(int *)value = done < CHANGE_AT ? first_mss : later_mss;
	}
	return (int)got;
}

static struct buf *from, *to;
static struct fabric_key key;
static struct fabric_wr wr;
static char described[FABRIC_TEXT_BYTES];

static void on_write_done(struct fabric_wr *write, enum fabric_status status);

static void write_post(void)
{
	memset(&wr, 0, sizeof(wr));
	wr.op = FABRIC_WRITE;
	wr.nsge = 1;
	wr.sge[0].buf = from;
	wr.sge[0].addr = from->mem;
	wr.sge[0].len_bytes = WRITE_BYTES;
	wr.rkey = key.rkey;
	wr.raddr = key.addr;
	wr.done = on_write_done;
	ck_assert_int_eq(fabric_post(ends.client.ep, &wr), 0);
}

static void on_write_done(struct fabric_wr *write, enum fabric_status status)
{
	ck_assert_int_eq(status, FABRIC_OK);
	if (++done < WRITES) {
		write_post();
		return;
	}
	fabric_ep_describe(ends.client.ep, described);
	fabric_ep_close(ends.client.ep);
}

/* Nobody sends anything but the client's Writes. */
static void client_step(struct end *end)
{
	key = (struct fabric_key){.buf = to,
				  .mem = to->mem,
				  .len_bytes = WRITE_BYTES,
				  .ready_bytes = WRITE_BYTES,
				  .rights = FABRIC_REMOTE_WRITE};
	ck_assert_int_eq(fabric_key_bind(ends.server.ep, &key), 0);
	write_post();
}

static void writes_go(enum iwarp_fpdu fpdu)
{
	ends_start(true, fpdu, "127.0.0.1", AF_INET);
	from = buf_get(ends.pool, WRITE_BYTES);
	to = buf_get(ends.pool, WRITE_BYTES);
	memset(from->mem, 0x5a, WRITE_BYTES);
	asked = done = 0;
	ends.client.step = client_step;
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(done, WRITES);
	ck_assert_mem_eq(to->mem, from->mem, WRITE_BYTES);
	ck_assert(fabric_key_unbind(&key));
	buf_put(from);
	buf_put(to);
	ends_stop();
}

START_TEST(a_segment_size_that_stays_is_asked_for_once_a_mebibyte)
{
	first_mss = later_mss = 32741;
	writes_go(IWARP_FPDU_AUTO);
	ck_assert_ptr_nonnull(strstr(described, "FPDUs of up to 65536 bytes"));
	/* By both at first, and while it was new. */
	ck_assert_uint_le(asked, 2 + 5 + WRITES);
	ck_assert_uint_ge(asked, WRITES / 2);
}
END_TEST

START_TEST(a_segment_size_that_changes_is_followed)
{
	first_mss = _i ? 32741 : 8948;
	later_mss = _i ? 8948 : 32741;
	writes_go(_i < 2 ? IWARP_FPDU_AUTO : IWARP_FPDU_MSS);
	ck_assert_msg(strstr(described,
			     _i == 0 ? "FPDUs of up to 65536 bytes" : "FPDUs of up to 8948 bytes"),
		      "%s", described);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_tcp_mss");
	TCase *tc = tcase_create("segment");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_segment_size_that_stays_is_asked_for_once_a_mebibyte);
	tcase_add_loop_test(tc, a_segment_size_that_changes_is_followed, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
