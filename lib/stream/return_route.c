// SPDX-License-Identifier: BSD-3-Clause
/* Queries routes by RTM_GETROUTE of rtnetlink(7). */
#include "stream/return_route.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/sockaddr.h"

/* for one route; a longer answer is cut after the attributes that are used */
#define REPLY_BYTES 4096u

struct route_request {
	struct nlmsghdr header;
	struct rtmsg route;
	uint8_t attributes[128];
};

struct route_reply {
	unsigned char type; /* RTN_LOCAL … */
	uint32_t out;       /* outgoing interface; 0: unknown */
};

static void request_add(struct route_request *request, unsigned short type, const void *data,
			size_t len_bytes)
{
	struct rtattr *at =
		(struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	at->rta_type = type;
	at->rta_len = (unsigned short)RTA_LENGTH(len_bytes);
	memcpy(RTA_DATA(at), data, len_bytes);
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(at->rta_len);
}

/* @type: RTA_DST or RTA_SRC. */
static void request_add_host(struct route_request *request, unsigned short type,
			     const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		request_add(request, type, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	else
		request_add(request, type, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
}

static void request_add_port(struct route_request *request, unsigned short type,
			     const struct sockaddr *addr)
{
	uint16_t port = htons(sockaddr_port(addr));

	request_add(request, type, &port, sizeof(port));
}

static struct route_request request_route_to(const struct sockaddr *dest)
{
	uint8_t bits = dest->sa_family == AF_INET ? 32 : 128;
	struct route_request request = {
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
			   .nlmsg_type = RTM_GETROUTE,
			   .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = (unsigned char)dest->sa_family, .rtm_dst_len = bits},
	};

	request_add_host(&request, RTA_DST, dest);
	return request;
}

/* Adds the fields of a segment that routing rules can match. */
static void request_add_segment(struct route_request *request, const struct sockaddr *from,
				const struct sockaddr *to)
{
	uint8_t tcp = IPPROTO_TCP;

	request->route.rtm_src_len = request->route.rtm_dst_len;
	request_add_host(request, RTA_SRC, from);
	request_add(request, RTA_IP_PROTO, &tcp, sizeof(tcp));
	request_add_port(request, RTA_SPORT, from);
	request_add_port(request, RTA_DPORT, to);
}

/* Returns 0 or a negative errno, possibly from the kernel's answer. */
static int read_route_reply(const uint8_t *bytes, size_t len_bytes, struct route_reply *answer)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)bytes;
	const struct rtmsg *route = NLMSG_DATA(header);
	const struct rtattr *at;
	size_t left;

	if (len_bytes < sizeof(*header) || header->nlmsg_len > len_bytes)
		return -EBADMSG;
	if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(int)))
		return *(const int *)NLMSG_DATA(header);
	if (header->nlmsg_type != RTM_NEWROUTE || header->nlmsg_len < NLMSG_LENGTH(sizeof(*route)))
		return -EBADMSG;
	*answer = (struct route_reply){.type = route->rtm_type};
	left = header->nlmsg_len - NLMSG_LENGTH(sizeof(*route));
	for (at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left))
		if (at->rta_type == RTA_OIF && RTA_PAYLOAD(at) == sizeof(answer->out))
			memcpy(&answer->out, RTA_DATA(at), sizeof(answer->out));
	return 0;
}

static int netlink_query(int fd, const struct route_request *request, struct route_reply *answer)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	_Alignas(struct nlmsghdr) uint8_t bytes[REPLY_BYTES];
	ssize_t n = sendto(fd, request, request->header.nlmsg_len, 0,
			   (const struct sockaddr *)&kernel, sizeof(kernel));

	if (n < 0)
		return -errno;
	/* The kernel has queued its answer by now. */
	n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return n < 0 ? -errno : read_route_reply(bytes, (size_t)n, answer);
}

/*
 * For a server on this host the rules for outgoing packets apply; for another host, those for
 * incoming ones.
 */
static int check_return_route(int fd, const struct sockaddr *server, const struct sockaddr *client)
{
	struct route_request request = request_route_to(server);
	struct route_reply there, back;
	int rc = netlink_query(fd, &request, &there);

	if (rc)
		return rc == -EACCES || rc == -EHOSTUNREACH ? -ENETUNREACH : rc;
	request = request_route_to(client);
	request_add_segment(&request, server, client);
	if (there.type != RTN_LOCAL)
		request_add(&request, RTA_IIF, &there.out, sizeof(there.out));
	/* A missing route is an answer too, reported by one of several errors. */
	if (netlink_query(fd, &request, &back) || back.type != RTN_LOCAL)
		return -EHOSTUNREACH;
	return 0;
}

int return_route_check(const struct sockaddr *server, const struct sockaddr *client)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc;

	if (fd < 0)
		return -errno;
	rc = check_return_route(fd, server, client);
	close(fd);
	return rc;
}
