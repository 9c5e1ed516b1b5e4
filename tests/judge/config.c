// SPDX-License-Identifier: BSD-3-Clause
/* One procedure, with which the ends negotiate the length of their Sends. */
#include "tests/judge/config.h"

#include "tests/judge/cursor.h"
#include "tests/judge/session.h"

#define CONFIG_VERSION 1u
#define CONF_RDMA      1u

static void skip_words(struct cursor *c, unsigned count)
{
	cursor_skip(c, (size_t)count * 4);
}

/* A credential or a verifier. */
static void skip_auth(struct cursor *c)
{
	struct cursor body;

	cursor_word(c);
	cursor_opaque(c, &body);
}

static bool is_conf_rdma(const struct judge *judge, struct cursor *c)
{
	uint32_t version, procedure;

	skip_words(c, 3); /* XID, CALL, the version of RPC */
	if (cursor_word(c) != judge->config_program)
		return false;
	version = cursor_word(c);
	procedure = cursor_word(c);
	skip_auth(c);
	skip_auth(c);
	return !c->bad && version == CONFIG_VERSION && procedure == CONF_RDMA;
}

void config_call(struct session *s, uint32_t xid, const uint8_t *msg, size_t len,
		 struct book_moment then)
{
	struct cursor c = {msg, len, false};
	struct config *config = &s->config;

	if (config->open)
		judge_violation(s->hearing, "Call 0x%08x beside CONF_RDMA 0x%08x", xid,
				config->xid);
	if (!msg || !is_conf_rdma(s->hearing->judge, &c))
		return;
	if (then.outstanding)
		judge_violation(s->hearing, "CONF_RDMA 0x%08x beside %u that wait", xid,
				then.outstanding);
	cursor_word(&c); /* its longest Call, which is what it wishes only */
	config->reply_bytes = cursor_word(&c);
	config->reads = cursor_word(&c);
	if (c.bad || c.left)
		judge_violation(s->hearing, "CONF_RDMA 0x%08x has not the arguments", xid);
	config->open = true;
	config->xid = xid;
}

void config_reply(struct session *s, uint32_t xid, const uint8_t *msg, size_t len)
{
	struct config *config = &s->config;
	struct cursor c = {msg, len, false};
	uint32_t bytes[2], reads[2];

	if (!config->open || config->xid != xid)
		return;
	config->open = false;
	if (!msg)
		return;
	skip_words(&c, 2);   /* XID, REPLY */
	if (cursor_word(&c)) /* denied */
		return;
	skip_auth(&c);
	if (cursor_word(&c)) /* not done */
		return;
	bytes[0] = config->reply_bytes;
	reads[0] = config->reads;
	bytes[1] = cursor_word(&c);
	cursor_word(&c); /* the alignment that the acceptor likes */
	reads[1] = cursor_word(&c);
	if (c.bad || c.left)
		judge_violation(s->hearing, "the Reply to CONF_RDMA 0x%08x has not the results",
				xid);
	else
		limits_config(&s->limits, bytes, reads);
}
