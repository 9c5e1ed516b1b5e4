// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/msg.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Buffers of freed messages: under AddressSanitizer mapping a new one costs a hundred times more
 * than its use.
 */
static uint8_t *spare[4];
static unsigned nspare;

struct nfs_msg *nfs_msg_new(void)
{
	struct nfs_msg *msg = calloc(1, sizeof(*msg));
	uint8_t *room = nspare ? spare[--nspare] : malloc(NFS_MSG_ROOM);

	assert(msg);
	assert(room);
	xdr_writer_init(&msg->out, room, NFS_MSG_ROOM);
	return msg;
}

void nfs_msg_free(struct nfs_msg *msg)
{
	if (nspare < sizeof(spare) / sizeof(*spare))
		spare[nspare++] = msg->out.start;
	else
		free(msg->out.start);
	free(msg->opaques);
	free(msg);
}

const uint8_t *nfs_msg_bytes(const struct nfs_msg *msg)
{
	return msg->out.start;
}

uint32_t nfs_msg_len(const struct nfs_msg *msg)
{
	assert(!msg->out.failed);
	return (uint32_t)xdr_written_bytes(&msg->out);
}

void put_u32(struct nfs_msg *msg, uint32_t value)
{
	xdr_put_u32(&msg->out, value);
}

void put_u64(struct nfs_msg *msg, uint64_t value)
{
	xdr_put_u64(&msg->out, value);
}

void put_words(struct nfs_msg *msg, unsigned count, uint32_t value)
{
	while (count-- > 0)
		put_u32(msg, value);
}

void put_fixed(struct nfs_msg *msg, uint32_t len)
{
	uint8_t *to = xdr_reserve(&msg->out, (len + 3) / 4 * 4);

	assert(to);
	for (uint32_t i = 0; i < (len + 3) / 4 * 4; i++)
		to[i] = i < len ? (uint8_t)(0x40 + i % 26) : 0;
}

/* The length word of an opaque, which is noted; returns where its first byte is. */
static uint32_t begin_opaque(struct nfs_msg *msg, uint32_t len)
{
	uint32_t at;

	put_u32(msg, len);
	at = nfs_msg_len(msg);
	/* Twice as many each time: messages have hundreds of thousands. */
	if (!(msg->nopaques & (msg->nopaques - 1)))
		msg->opaques =
			realloc(msg->opaques, (msg->nopaques ? 2 * (size_t)msg->nopaques : 1) *
						      sizeof(*msg->opaques));
	assert(msg->opaques);
	msg->opaques[msg->nopaques++] = (struct rpc_payload){at, len};
	return at;
}

uint32_t put_opaque(struct nfs_msg *msg, uint32_t len)
{
	uint32_t at = begin_opaque(msg, len);

	put_fixed(msg, len);
	return at;
}

/* One inside of another, so that it is none of the message's. */
static void put_inner(struct nfs_msg *msg, uint32_t len)
{
	put_u32(msg, len);
	put_fixed(msg, len);
}

/* AUTH_SYS of a machine called "localhost" (RFC 5531 appendix A). */
static void put_auth_sys(struct nfs_msg *msg)
{
	put_u32(msg, RPC_AUTH_SYS);
	begin_opaque(msg, 4 + 4 + 12 + 4 + 4 + 4);
	put_u32(msg, 1);
	put_inner(msg, 9);
	put_words(msg, 3, 0);
}

/* rpc_gss_cred_t (RFC 2203 section 5.3.1) with a handle of four bytes; a MIC as the verifier. */
static void put_auth_gss(struct nfs_msg *msg, const struct nfs_msg_auth *auth)
{
	put_u32(msg, RPC_AUTH_GSS);
	begin_opaque(msg, 4 * 4 + 8);
	put_u32(msg, 1);
	put_u32(msg, auth->gss_proc);
	put_u32(msg, 7);
	put_u32(msg, auth->gss_service);
	put_inner(msg, 4);
	put_u32(msg, RPC_AUTH_GSS);
	put_opaque(msg, 28);
}

struct nfs_msg *nfs_msg_call(uint32_t prog, uint32_t vers, uint32_t proc,
			     const struct nfs_msg_auth *auth)
{
	struct nfs_msg *msg = nfs_msg_new();

	put_u32(msg, 0x12345678);
	put_u32(msg, RPC_CALL);
	put_u32(msg, 2);
	put_u32(msg, prog);
	put_u32(msg, vers);
	put_u32(msg, proc);
	if (auth && auth->flavor == RPC_AUTH_GSS) {
		put_auth_gss(msg, auth);
	} else {
		put_auth_sys(msg);
		put_u32(msg, RPC_AUTH_NONE);
		put_opaque(msg, 0);
	}
	return msg;
}

struct nfs_msg *nfs_msg_reply(const struct nfs_msg_auth *auth)
{
	struct nfs_msg *msg = nfs_msg_new();

	put_u32(msg, 0x12345678);
	put_u32(msg, RPC_REPLY);
	put_u32(msg, RPC_MSG_ACCEPTED);
	put_u32(msg, auth ? auth->flavor : RPC_AUTH_NONE);
	put_opaque(msg, auth ? auth->verf_bytes : 0);
	put_u32(msg, RPC_SUCCESS);
	return msg;
}
