/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which mutant a program is: that of the number in the environment, MUTANT, or none. The build of tests/mutants includes this
 * before all else in each of its files, so it includes nothing itself.
 */
#ifndef TESTS_MUTANTS_CHOSEN_H
#define TESTS_MUTANTS_CHOSEN_H

extern char *getenv(const char *name);
extern int atoi(const char *text);

/** mutant_is - whether the program is this mutant. */
static inline int mutant_is(int number)
{
	static int chosen = -1;

	if (chosen < 0) {
		const char *text = getenv("MUTANT");

		chosen = text ? atoi(text) : 0;
	}
	return chosen == number;
}

#endif
