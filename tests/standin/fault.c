// SPDX-License-Identifier: BSD-3-Clause
/* The table of faults is read once; calls are counted per verb. */
#define _GNU_SOURCE
#include "tests/standin/fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/standin/memory_remove.h"
#include "tests/standin/profile.h"

#define FAULTS_MAX 64u

struct fault {
	enum standin_verb verb;
	unsigned from, to;
	unsigned wait_ms;
	bool hangs, removes, fatal;
	struct standin_answer answer;
	char text[32];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fault faults[FAULTS_MAX];
static unsigned nfaults;
static bool wanted[STANDIN_NVERBS];
static atomic_uint calls[STANDIN_NVERBS];

#define VERB_NAME(name) [STANDIN_##name] = #name,
static const char *const verb_names[STANDIN_NVERBS] = {STANDIN_VERBS(VERB_NAME)};

static const struct {
	const char *name;
	int value;
} errnos[] = {
	{"EAGAIN", EAGAIN},
	{"EINVAL", EINVAL},
	{"EIO", EIO},
	{"ENOMEM", ENOMEM},
	{"ENODEV", ENODEV},
	{"ENOSPC", ENOSPC},
	{"ENOSYS", ENOSYS},
	{"EOPNOTSUPP", EOPNOTSUPP},
	{"EPERM", EPERM},
	{"ETIMEDOUT", ETIMEDOUT},
	{"EBUSY", EBUSY},
	{"EFAULT", EFAULT},
	{"EADDRINUSE", EADDRINUSE},
	{"ECONNREFUSED", ECONNREFUSED},
	{"EADDRNOTAVAIL", EADDRNOTAVAIL},
	{"ECONNRESET", ECONNRESET},
	{"EHOSTUNREACH", EHOSTUNREACH},
	{"EMFILE", EMFILE},
	{"ENOENT", ENOENT},
	{"ENXIO", ENXIO},
	{"EPROTO", EPROTO},
};

static void die(const char *what, const char *text)
{
	fprintf(stderr, "standin: STANDIN_FAULTS: %s: %s\n", what, text);
	_exit(2);
}

static int find_errno(const char *text)
{
	for (unsigned i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (!strcmp(errnos[i].name, text))
			return errnos[i].value;
	die("no such answer", text);
	return 0;
}

static void parse_answer(struct fault *fault, const char *text)
{
	int value;

	if (!strcmp(text, "full"))
		fault->answer.kind = STANDIN_FULL;
	else if (!strcmp(text, "dead"))
		fault->answer.kind = STANDIN_DEAD;
	else if (!strcmp(text, "hang"))
		fault->hangs = true;
	else if (!strcmp(text, "remove"))
		fault->removes = true;
	else if (!strcmp(text, "fatal"))
		fault->removes = fault->fatal = true;
	else if (sscanf(text, "wait-%d", &value) == 1)
		fault->wait_ms = (unsigned)value;
	else if (sscanf(text, "status-%d", &value) == 1)
		fault->answer = (struct standin_answer){STANDIN_STATUS, value};
	else if (sscanf(text, "hold-%d", &value) == 1)
		fault->answer = (struct standin_answer){STANDIN_HOLD, value};
	else if (sscanf(text, "swap-%d", &value) == 1)
		fault->answer = (struct standin_answer){STANDIN_SWAP, value};
	else if (*text == '-')
		fault->answer = (struct standin_answer){STANDIN_ERRNO, -find_errno(text + 1)};
	else
		fault->answer = (struct standin_answer){STANDIN_ERRNO, find_errno(text)};
	snprintf(fault->text, sizeof(fault->text), "%s", text);
}

static enum standin_verb find_verb(const char *name)
{
	for (unsigned i = 0; i < STANDIN_NVERBS; i++)
		if (!strcmp(verb_names[i], name))
			return i;
	die("no such verb", name);
	return STANDIN_NVERBS;
}

static void parse_fault(struct fault *fault, const char *text)
{
	char verb[32], answer[32], dash = 0;
	int at = 0;

	if (sscanf(text, "%31[a-z_]:%u%n", verb, &fault->from, &at) != 2)
		die("not VERB:CALL=ANSWER", text);
	text += at;
	fault->to = fault->from;
	if (*text == '-') {
		dash = *text++;
		fault->to = (unsigned)strtoul(text, (char **)&text, 10);
	}
	if (dash && !fault->to)
		fault->to = UINT_MAX;
	if (sscanf(text, "=%31s", answer) != 1)
		die("no answer", text);
	fault->verb = find_verb(verb);
	parse_answer(fault, answer);
	wanted[fault->verb] = true;
}

static void read_faults(void)
{
	const char *env = getenv("STANDIN_FAULTS");
	char *text = env ? strdup(env) : NULL, *word, *rest = text;

	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		if (nfaults == FAULTS_MAX)
			die("too many", word);
		parse_fault(&faults[nfaults++], word);
	}
	free(text);
}

bool standin_faults_of(enum standin_verb verb)
{
	pthread_once(&once, read_faults);
	return wanted[verb];
}

static void hang(void)
{
	const char *name = getenv("STANDIN_RELEASE");

	if (!name)
		die("STANDIN_RELEASE names no file", "hang");
	while (access(name, F_OK))
		usleep(10000);
}

/* Removes the device as the kernel driver of the profile does. */
static void remove_device(bool fatal)
{
	void (*remove)(enum memory_removal how) = dlsym(RTLD_DEFAULT, "memory_remove");
	const char *name = getenv("STANDIN_PROFILE");
	const struct standin_profile *profile = name && *name ? standin_profile_find(name) : NULL;

	if (!remove)
		die("no device in memory", "remove");
	if (fatal)
		remove(MEMORY_FATAL);
	else
		remove(profile && !profile->disassociates ? MEMORY_WAITS : MEMORY_DISASSOCIATES);
}

struct standin_answer standin_fault(enum standin_verb verb)
{
	unsigned call;

	if (!standin_faults_of(verb))
		return (struct standin_answer){0};
	call = atomic_fetch_add(&calls[verb], 1) + 1;
	for (unsigned i = 0; i < nfaults; i++) {
		const struct fault *fault = &faults[i];

		if (fault->verb != verb || call < fault->from || call > fault->to)
			continue;
		fprintf(stderr, "standin: %s %u: %s\n", verb_names[verb], call, fault->text);
		if (fault->hangs)
			hang();
		if (fault->removes)
			remove_device(fault->fatal);
		if (fault->wait_ms)
			usleep(fault->wait_ms * 1000u);
		return fault->answer;
	}
	return (struct standin_answer){0};
}

int standin_fault_errno(enum standin_verb verb)
{
	struct standin_answer answer = standin_fault(verb);

	return answer.kind == STANDIN_ERRNO ? answer.value : 0;
}
