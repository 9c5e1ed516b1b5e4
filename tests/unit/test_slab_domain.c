// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests registrations of slabs in many protection domains: what a look-up finds, and how many
 * registrations it and the end of a domain touch. Each registration is on a protected page of its
 * own, so that a touch is counted.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fabric/buf_pool.h"
#include "tests/lib/test.h"

#define KIB        1024u
#define MIB        (1024u * KIB)
#define PAGE_BYTES 4096u
#define DOMAINS    1000u
#define SLABS      20u
#define FEW        8u /* registrations that one step may touch */

static struct buf_pool *pool;
static struct slab_domain domains[DOMAINS];
static struct buf *bufs[SLABS];
static uint8_t *pages; /* DOMAINS * SLABS of them */
static volatile unsigned touched;
static unsigned released;

static void release(struct slab_reg *reg)
{
	released++;
}

static struct slab_reg *reg_of(unsigned d, unsigned s)
{
	return (struct slab_reg *)(pages + (size_t)(d * SLABS + s) * PAGE_BYTES);
}

static void on_touch(int signal, siginfo_t *info, void *context)
{
	uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE_BYTES - 1));

	if (page < pages || page >= pages + (size_t)DOMAINS * SLABS * PAGE_BYTES)
		_Exit(1);
	touched++;
	(void)mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void protect(void)
{
	touched = 0;
	ck_assert_int_eq(mprotect(pages, (size_t)DOMAINS * SLABS * PAGE_BYTES, PROT_NONE), 0);
}

static void setup(void)
{
	struct sigaction action = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO};

	pool = buf_pool_new(MIB, SLABS * MIB);
	ck_assert_ptr_nonnull(pool);
	pages = mmap(NULL, (size_t)DOMAINS * SLABS * PAGE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	for (unsigned s = 0; s < SLABS; s++) {
		bufs[s] = buf_get(pool, MIB);
		ck_assert_ptr_nonnull(bufs[s]);
	}
	for (unsigned d = 0; d < DOMAINS; d++) {
		slab_domain_init(&domains[d]);
		for (unsigned s = 0; s < SLABS; s++) {
			struct slab_reg *reg = reg_of(d, s);

			reg->release = release;
			buf_slab_reg_add(bufs[s], &domains[d], reg);
		}
	}
	released = 0;
	ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static void teardown(void)
{
	for (unsigned d = 0; d < DOMAINS; d++)
		slab_domain_fini(&domains[d]);
	for (unsigned s = 0; s < SLABS; s++)
		buf_put(bufs[s]);
	buf_pool_free(pool);
	munmap(pages, (size_t)DOMAINS * SLABS * PAGE_BYTES);
}

START_TEST(a_look_up_touches_few_registrations_however_many_domains_there_are)
{
	static const unsigned rows[] = {0, 1, DOMAINS / 2, DOMAINS - 1};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned s = 0; s < SLABS; s++) {
			protect();
			ck_assert_ptr_eq(buf_slab_reg(bufs[s], &domains[rows[i]]),
					 reg_of(rows[i], s));
			ck_assert_uint_le(touched, FEW);
			/* The next one of the same domain touches that registration alone. */
			protect();
			ck_assert_ptr_eq(buf_slab_reg(bufs[s], &domains[rows[i]]),
					 reg_of(rows[i], s));
			ck_assert_uint_le(touched, 1);
		}
	}
}
END_TEST

START_TEST(the_end_of_a_domain_touches_its_registrations_and_their_neighbours)
{
	protect();
	slab_domain_fini(&domains[DOMAINS / 2]);
	ck_assert_uint_eq(released, SLABS);
	ck_assert_uint_ge(touched, SLABS);
	ck_assert_uint_le(touched, FEW * SLABS);
	for (unsigned s = 0; s < SLABS; s++) {
		ck_assert_ptr_null(buf_slab_reg(bufs[s], &domains[DOMAINS / 2]));
		ck_assert_ptr_eq(buf_slab_reg(bufs[s], &domains[0]), reg_of(0, s));
		ck_assert_ptr_eq(buf_slab_reg(bufs[s], &domains[DOMAINS - 1]),
				 reg_of(DOMAINS - 1, s));
	}
}
END_TEST

/* The last found entry is forgotten with it. */
START_TEST(a_registration_that_is_gone_is_not_found)
{
	ck_assert_ptr_eq(buf_slab_reg(bufs[3], &domains[5]), reg_of(5, 3));
	slab_domain_fini(&domains[5]);
	ck_assert_ptr_null(buf_slab_reg(bufs[3], &domains[5]));
	buf_slab_reg_add(bufs[3], &domains[5], reg_of(5, 3));
	ck_assert_ptr_eq(buf_slab_reg(bufs[3], &domains[5]), reg_of(5, 3));
}
END_TEST

START_TEST(the_end_of_a_slab_ends_its_registrations_in_every_domain)
{
	struct buf_pool *other = buf_pool_new(MIB, 0);
	struct buf *buf = buf_get(other, MIB);
	struct slab_reg regs[DOMAINS] = {0};

	ck_assert_ptr_nonnull(buf);
	for (unsigned d = 0; d < DOMAINS; d++) {
		regs[d].release = release;
		buf_slab_reg_add(buf, &domains[d], &regs[d]);
	}
	ck_assert_ptr_eq(buf_slab_reg(buf, &domains[7]), &regs[7]);
	protect();
	buf_put(buf);
	ck_assert_uint_eq(released, DOMAINS);
	ck_assert_uint_le(touched, FEW * DOMAINS);
	for (unsigned d = 0; d < DOMAINS; d++)
		ck_assert_uint_eq(domains[d].table.count, SLABS);
	buf_pool_free(other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slab_domain");
	TCase *tc = tcase_create("slab_domain");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_look_up_touches_few_registrations_however_many_domains_there_are);
	tcase_add_test(tc, the_end_of_a_domain_touches_its_registrations_and_their_neighbours);
	tcase_add_test(tc, a_registration_that_is_gone_is_not_found);
	tcase_add_test(tc, the_end_of_a_slab_ends_its_registrations_in_every_domain);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
