// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/rpcbind/rpcb_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define REPLY_US       5000000u
#define RETRY_FIRST_US 500000u
#define RETRY_MOST_US  8000000u
#define REFUSED_US     30000000u /* until a refused mapping is tried again */

enum stage {
	WANTED,
	CLEARED, /* refused; the mapping that this user left there was removed; registering again */
	REGISTERED,
	REFUSED,
	/* to be unregistered until rpcbind has the mapping that it needs; then WANTED */
	WITHHELD,
	UNWANTED, /* to be unregistered */
};

struct entry {
	struct rpcb_mapping mapping;
	enum stage stage;
	bool maybe;     /* rpcbind may have it from this daemon: a SET was sent, and not refused */
	bool confirmed; /* to be unregistered, and rpcbind still has this address */
	bool clearing;  /* refused; removing the mapping that this user left */
	bool logged;    /* the refusal was logged */
};

struct rpcb_client {
	struct loop *loop;
	const char *path;
	size_t count;
	struct entry *entries;

	int fd; /* -1: not connected */
	struct loop_io *io;
	struct loop_timer *timer; /* for a Reply, the next attempt, or refused mappings */
	uint64_t retry_us;
	bool logged; /* the failure of rpcbind was logged */

	uint32_t xid;
	struct entry *asked;           /* the entry whose Reply is due; NULL: none */
	enum rpcb_procedure procedure; /* the procedure of that Call */
	struct rpcb_input input;
};

static void on_socket(void *arg, unsigned events);

/* ---- the connection ---- */

static void disconnect(struct rpcb_client *r)
{
	if (r->fd < 0)
		return;
	loop_io_free(r->loop, r->io);
	close(r->fd);
	r->io = NULL;
	r->fd = -1;
	r->asked = NULL;
}

/* After a restart rpcbind can have lost all registrations. A close while idle is not logged. */
static void connection_lost(struct rpcb_client *r, const char *why)
{
	disconnect(r);
	for (size_t i = 0; i < r->count; i++) {
		r->entries[i].clearing = r->entries[i].confirmed = false;
		if (r->entries[i].stage != UNWANTED)
			r->entries[i].stage = WANTED;
	}
	if (why && !r->logged)
		log_warning(NULL, "rpcbind registration failed: %s: %s; will retry", r->path, why);
	r->logged = r->logged || why;
	loop_timer_set(r->loop, r->timer, r->retry_us);
	r->retry_us = r->retry_us * 2 < RETRY_MOST_US ? r->retry_us * 2 : RETRY_MOST_US;
}

static int open_socket(struct rpcb_client *r)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int rc = 0;

	if (strlen(r->path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, r->path);
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->fd < 0)
		return -errno;
	/* A local socket connects at once or not at all. */
	if (connect(r->fd, (const struct sockaddr *)&addr, sizeof(addr)))
		rc = -errno;
	if (!rc) {
		r->io = loop_io_new(r->loop, r->fd, on_socket, r);
		rc = r->io ? 0 : -ENOMEM;
	}
	if (!rc)
		return 0;
	close(r->fd);
	r->fd = -1;
	return rc;
}

/* ---- one Call ---- */

static bool is_to_be_unregistered(const struct entry *entry)
{
	return entry->stage == UNWANTED || entry->stage == WITHHELD;
}

/*
 * UNSET removes whatever is registered, also for another daemon that has replaced the mapping since.
 * SET tells: rpcbind accepts the address that it has, and refuses another one.
 */
static enum rpcb_procedure procedure_for(const struct entry *entry)
{
	bool removes = is_to_be_unregistered(entry) ? entry->confirmed : entry->clearing;

	return removes ? RPCBIND_UNSET : RPCBIND_SET;
}

/* The socket's buffer can hold the whole Call, since only one is ever in flight. */
static int send_call(struct rpcb_client *r, struct entry *entry)
{
	uint8_t call[RPCBIND_MAX_CALL_BYTES];
	const struct rpcb_mapping *mapping = &entry->mapping;
	ssize_t sent;
	size_t len;

	r->procedure = procedure_for(entry);
	len = rpcb_call_encode(call, ++r->xid, r->procedure, mapping->program,
			       mapping->program_version, mapping->netid, mapping->address);
	sent = send(r->fd, call, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0)
		return -errno;
	if (!len || (size_t)sent != len)
		return -EMSGSIZE;
	r->asked = entry;
	entry->maybe = entry->maybe || r->procedure == RPCBIND_SET;
	return 0;
}

/* Returns whether @mapping is registered only after @other. */
static bool needs(const struct rpcb_mapping *mapping, const struct rpcb_mapping *other)
{
	return mapping->needs_program && other->program == mapping->needs_program &&
	       other->program_version == mapping->needs_version &&
	       !strcmp(other->netid, mapping->netid) && !strcmp(other->address, mapping->address);
}

/* Returns whether rpcbind has the mapping that this one needs, if it needs one. */
static bool has_needed(const struct rpcb_client *r, const struct rpcb_mapping *mapping)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].stage == REGISTERED && needs(mapping, &r->entries[i].mapping))
			return true;
	return !mapping->needs_program;
}

/*
 * Another program has taken the place of @refused. rpcbind can still have mappings that need it from
 * before: it keeps all of them over a restart if it is started with -w.
 */
static void withhold_dependents(struct rpcb_client *r, const struct entry *refused)
{
	for (size_t i = 0; i < r->count; i++) {
		struct entry *entry = &r->entries[i];

		if (entry->maybe && entry->stage != UNWANTED &&
		    needs(&entry->mapping, &refused->mapping))
			entry->stage = WITHHELD;
	}
}

/* Mappings to be unregistered go first, since a new one can need the same key. */
static struct entry *next_entry(const struct rpcb_client *r)
{
	struct entry *found = NULL;

	for (size_t i = 0; i < r->count; i++) {
		struct entry *entry = &r->entries[i];

		if (is_to_be_unregistered(entry))
			return entry;
		if (!found && (entry->stage == WANTED || entry->stage == CLEARED) &&
		    has_needed(r, &entry->mapping))
			found = entry;
	}
	return found;
}

static bool any_in_stage(const struct rpcb_client *r, enum stage stage)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].stage == stage)
			return true;
	return false;
}

static void send_next(struct rpcb_client *r)
{
	struct entry *entry = next_entry(r);
	int rc;

	if (!entry) {
		loop_timer_clear(r->loop, r->timer);
		if (any_in_stage(r, REFUSED))
			loop_timer_set(r->loop, r->timer, REFUSED_US);
		return;
	}
	rc = send_call(r, entry);
	if (rc)
		connection_lost(r, strerror(-rc));
	else
		loop_timer_set(r->loop, r->timer, REPLY_US);
}

/* Never frees the entry whose Reply is due. */
static void entry_free(struct rpcb_client *r, struct entry *entry)
{
	struct entry *last = &r->entries[--r->count];

	*entry = *last;
	if (r->asked == last)
		r->asked = entry;
}

static void log_refused(struct entry *entry, enum rpcb_reply reply)
{
	const struct rpcb_mapping *mapping = &entry->mapping;

	if (!entry->logged)
		log_warning(NULL,
			    "rpcbind does not register program %u version %u for %s at %s: %s",
			    mapping->program, mapping->program_version, mapping->netid,
			    mapping->address,
			    reply == RPCBIND_NO ? "another program is registered there"
						: "it accepts no registrations from this daemon");
	entry->logged = true;
}

/*
 * A killed daemon leaves its mappings, which its user can remove; root does not, since they could
 * be anybody's.
 */
static void on_refused(struct rpcb_client *r, struct entry *entry, enum rpcb_reply reply)
{
	entry->maybe = false;
	if (reply == RPCBIND_NO && entry->stage == WANTED && geteuid() != 0) {
		entry->clearing = true;
		return;
	}
	entry->stage = REFUSED;
	log_refused(entry, reply);
	withhold_dependents(r, entry);
}

static void on_registered(struct rpcb_client *r, struct entry *entry)
{
	const struct rpcb_mapping *mapping = &entry->mapping;

	entry->stage = REGISTERED;
	entry->logged = false;
	log_debug(NULL, "registered with rpcbind: %u version %u, %s at %s", mapping->program,
		  mapping->program_version, mapping->netid, mapping->address);
	if (r->logged)
		log_info(NULL, "rpcbind registration succeeded again");
	r->logged = false;
}

/* rpcbind does not have the mapping any more. */
static void on_unregistered(struct rpcb_client *r, struct entry *entry)
{
	if (entry->stage == UNWANTED) {
		entry_free(r, entry);
		return;
	}
	entry->stage = WANTED;
	entry->maybe = entry->confirmed = false;
}

static void on_unset(struct rpcb_client *r, struct entry *entry)
{
	if (is_to_be_unregistered(entry)) {
		on_unregistered(r, entry);
		return;
	}
	if (entry->clearing)
		entry->stage = CLEARED;
	entry->clearing = false;
}

/* The wanted mappings can have changed since the Call: then another Call follows. */
static void on_reply(struct rpcb_client *r, enum rpcb_reply reply)
{
	struct entry *entry = r->asked;

	r->asked = NULL;
	r->retry_us = RETRY_FIRST_US;
	if (r->procedure == RPCBIND_UNSET)
		on_unset(r, entry);
	else if (is_to_be_unregistered(entry) && reply != RPCBIND_YES)
		on_unregistered(r, entry);
	else if (is_to_be_unregistered(entry))
		entry->confirmed = true;
	else if (reply == RPCBIND_YES)
		on_registered(r, entry);
	else
		on_refused(r, entry, reply);
}

/* ---- reading ---- */

/* Processes a complete Reply. Returns RPCBIND_ANOTHER while it is incomplete. */
static enum rpcb_reply read_reply(struct rpcb_client *r, const uint8_t *in, size_t len)
{
	enum rpcb_reply reply = RPCBIND_ANOTHER, said;
	enum record_status status;

	while ((status = rpcb_input_read(&r->input, &in, &len)) == RECORD_END) {
		said = rpcbind_reply(r->input.message, r->input.len, r->xid);
		r->input.len = 0;
		if (said == RPCBIND_GARBAGE || reply != RPCBIND_ANOTHER)
			return RPCBIND_GARBAGE;
		reply = said;
	}
	return status == RECORD_MORE ? reply : RPCBIND_GARBAGE;
}

static void on_socket(void *arg, unsigned events)
{
	struct rpcb_client *r = arg;
	enum rpcb_reply reply;
	uint8_t in[RPCBIND_MAX_REPLY_BYTES];
	ssize_t n;

	if (events & LOOP_ERROR) {
		connection_lost(r, "cannot watch its socket");
		return;
	}
	n = recv(r->fd, in, sizeof(in), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		connection_lost(r, strerror(errno));
		return;
	}
	if (n == 0) {
		connection_lost(r, r->asked ? "it closed the connection" : NULL);
		return;
	}
	reply = read_reply(r, in, (size_t)n);
	if (reply == RPCBIND_GARBAGE || (reply != RPCBIND_ANOTHER && !r->asked)) {
		connection_lost(r, "what it says makes no sense");
	} else if (reply != RPCBIND_ANOTHER) {
		on_reply(r, reply);
		send_next(r);
	}
}

static void on_timer(void *arg)
{
	struct rpcb_client *r = arg;
	int rc;

	if (r->asked) {
		connection_lost(r, "no answer");
		return;
	}
	for (size_t i = 0; i < r->count; i++)
		if (r->entries[i].stage == REFUSED)
			r->entries[i].stage = WANTED;
	if (r->fd < 0 && r->count) {
		rc = open_socket(r);
		if (rc) {
			connection_lost(r, strerror(-rc));
			return;
		}
		rpcb_input_init(&r->input);
		loop_io_set(r->loop, r->io, LOOP_READ);
	}
	if (r->fd >= 0)
		send_next(r);
}

/* ---- the wanted mappings ---- */

struct rpcb_client *rpcb_client_new(struct loop *loop, const char *path)
{
	struct rpcb_client *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct rpcb_client){.loop = loop, .path = path, .fd = -1, .retry_us = RETRY_FIRST_US};
	r->xid = (uint32_t)loop_now_us(loop);
	r->timer = loop_timer_new(loop, on_timer, r);
	if (!r->timer) {
		free(r);
		return NULL;
	}
	return r;
}

static bool is_same(const struct rpcb_mapping *a, const struct rpcb_mapping *b)
{
	return a->program == b->program && a->program_version == b->program_version &&
	       !strcmp(a->netid, b->netid) && !strcmp(a->address, b->address);
}

static bool is_among(const struct rpcb_mapping *one, const struct rpcb_mapping *mappings,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same(one, &mappings[i]))
			return true;
	return false;
}

static struct entry *find_entry(const struct rpcb_client *r, const struct rpcb_mapping *mapping)
{
	for (size_t i = 0; i < r->count; i++)
		if (is_same(&r->entries[i].mapping, mapping))
			return &r->entries[i];
	return NULL;
}

/*
 * Removes the entries that are not among the wanted ones. Those that rpcbind cannot have from this
 * daemon need no Call.
 */
static void drop_unwanted(struct rpcb_client *r, const struct rpcb_mapping *mappings, size_t count)
{
	for (size_t i = r->count; i-- > 0;) {
		struct entry *entry = &r->entries[i];

		if (is_among(&entry->mapping, mappings, count))
			continue;
		if (entry->maybe || entry == r->asked)
			entry->stage = UNWANTED;
		else
			entry_free(r, entry);
	}
}

int rpcb_client_set(struct rpcb_client *r, const struct rpcb_mapping *mappings, size_t count)
{
	size_t asked = r->asked ? (size_t)(r->asked - r->entries) : 0;
	struct entry *entries = reallocarray(r->entries, r->count + count + 1, sizeof(*r->entries));
	struct entry *entry;

	if (!entries)
		return -ENOMEM;
	if (r->asked)
		r->asked = &entries[asked];
	r->entries = entries;
	drop_unwanted(r, mappings, count);
	for (size_t i = 0; i < count; i++) {
		entry = find_entry(r, &mappings[i]);
		if (!entry)
			entries[r->count++] = (struct entry){.mapping = mappings[i]};
		else if (entry->stage == UNWANTED)
			entry->stage = WANTED;
		if (entry)
			entry->confirmed = false;
	}
	/* The Reply to a Call in flight continues with the others. */
	if (!r->asked && next_entry(r))
		loop_timer_set(r->loop, r->timer, 0);
	return 0;
}

/* ---- unregistering ---- */

static int64_t now_ms(void)
{
	return (int64_t)(clock_us(CLOCK_MONOTONIC) / 1000);
}

/*
 * Waits for the Reply to the Call in flight. Returns it; RPCBIND_GARBAGE on timeout or error.
 */
static enum rpcb_reply await_reply(struct rpcb_client *r, int64_t end_ms)
{
	struct pollfd pollfd = {.fd = r->fd, .events = POLLIN};
	enum rpcb_reply reply = RPCBIND_ANOTHER;
	uint8_t in[RPCBIND_MAX_REPLY_BYTES];
	int64_t left_ms;
	ssize_t n;

	while (reply == RPCBIND_ANOTHER) {
		left_ms = end_ms - now_ms();
		if (left_ms <= 0 || poll(&pollfd, 1, (int)left_ms) <= 0)
			return RPCBIND_GARBAGE;
		n = recv(r->fd, in, sizeof(in), MSG_DONTWAIT);
		if (n <= 0)
			return RPCBIND_GARBAGE;
		reply = read_reply(r, in, (size_t)n);
	}
	return reply;
}

/* Sends the Call that the entry needs next, and waits for its Reply as await_reply(). */
static enum rpcb_reply ask_now(struct rpcb_client *r, struct entry *entry, int64_t end_ms)
{
	return send_call(r, entry) ? RPCBIND_GARBAGE : await_reply(r, end_ms);
}

static void unregister_all(struct rpcb_client *r)
{
	int64_t end_ms = now_ms() + RPCB_CLIENT_END_MS;
	enum rpcb_reply reply = RPCBIND_YES;

	if (r->fd >= 0 && r->asked)
		reply = await_reply(r, end_ms);
	if (r->fd < 0 || reply == RPCBIND_GARBAGE)
		return;
	if (r->asked && r->procedure == RPCBIND_SET && reply != RPCBIND_YES)
		r->asked->maybe = false;
	for (size_t i = 0; i < r->count; i++) {
		struct entry *entry = &r->entries[i];

		if (!entry->maybe)
			continue;
		entry->stage = UNWANTED;
		entry->confirmed = false;
		reply = ask_now(r, entry, end_ms);
		entry->confirmed = reply == RPCBIND_YES;
		if (entry->confirmed)
			reply = ask_now(r, entry, end_ms);
		if (reply == RPCBIND_GARBAGE)
			return;
	}
}

void rpcb_client_free(struct rpcb_client *r)
{
	if (!r)
		return;
	unregister_all(r);
	disconnect(r);
	loop_timer_free(r->loop, r->timer);
	free(r->entries);
	free(r);
}
