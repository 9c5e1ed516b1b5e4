// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_cidr.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *config_value_error(const char *format, ...)
{
	static _Thread_local char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return text;
}

long config_decimal(const char *text, long max)
{
	long value = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

static size_t addr_bytes(sa_family_t family)
{
	return family == AF_INET ? 4 : 16;
}

/* Returns whether the first @bits of the two addresses are equal. */
static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned rest = bits % 8;

	if (memcmp(a, b, bits / 8))
		return false;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

/* Clears the bits after the prefix. Returns whether any was set. */
static bool clear_host_bits(struct config_cidr *cidr)
{
	uint8_t zero[16] = {0}, *addr = cidr->addr;
	size_t len = addr_bytes(cidr->family), byte = cidr->prefix_bits / 8;
	struct config_cidr before = *cidr;

	if (byte < len)
		addr[byte] &= (uint8_t)(0xff00u >> cidr->prefix_bits % 8);
	if (byte + 1 < len)
		memcpy(addr + byte + 1, zero, len - byte - 1);
	return memcmp(before.addr, addr, len) != 0;
}

/* Returns the error text for an entry that is not an address. */
static const char *not_an_address(const char *text)
{
	const char *cure = "";

	if (!strcmp(text, "*") || !strcasecmp(text, "any") || !strcasecmp(text, "all"))
		cure = ": write \"0.0.0.0/0\" and \"::/0\" for every address";
	else if (strpbrk(text, ",; "))
		cure = ": write each as a separate string without blanks: [ \"10.0.0.0/8\", "
		       "\"192.0.2.1\" ]";
	else if (strchr(text, '['))
		cure = ": write it without brackets and port";
	else if (strchr(text, '*') || (isdigit((unsigned char)*text) && strchr(text, '-')))
		cure = ": write a range as a prefix such as 10.0.0.0/8";
	else if (strchr(text, '%'))
		cure = ": write it without its interface";
	else if (strspn(text, "0123456789.:abcdefABCDEF/") != strlen(text))
		cure = ": names are not supported here";
	return config_value_error("\"%.100s\" is not an IPv4 or IPv6 address%s", text, cure);
}

/* Returns the prefix length of a netmask, or -1 if @text is not a netmask. */
static int mask_bits(const char *text)
{
	struct in_addr in;
	uint32_t mask;

	if (inet_pton(AF_INET, text, &in) != 1)
		return -1;
	mask = ntohl(in.s_addr);
	return ~mask & (~mask + 1) ? -1 : __builtin_popcount(mask);
}

/* Returns the error text for what follows the slash. */
static const char *not_a_prefix(const char *bits, const struct config_cidr *found, long max)
{
	int mask = found->family == AF_INET ? mask_bits(bits) : -1;
	char cure[16] = "";

	if (mask >= 0)
		snprintf(cure, sizeof(cure), ": write /%d", mask);
	return config_value_error("prefix length \"%.32s\" is not a number from 0 to %ld%s", bits,
				  max, cure);
}

const char *config_cidr_parse(const char *text, struct config_cidr *cidr)
{
	struct config_cidr found = {0};
	char addr[INET6_ADDRSTRLEN + 1], clean[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "/");
	long bits, max;

	if (len > INET6_ADDRSTRLEN || strpbrk(text, ",; "))
		return not_an_address(text);
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, found.addr) == 1)
		found.family = AF_INET;
	else if (inet_pton(AF_INET6, addr, found.addr) == 1)
		found.family = AF_INET6;
	else
		return not_an_address(text);
	max = (long)addr_bytes(found.family) * 8;
	bits = text[len] ? config_decimal(text + len + 1, max) : max;
	if (bits < 0)
		return not_a_prefix(text + len + 1, &found, max);
	found.prefix_bits = (unsigned)bits;
	if (clear_host_bits(&found))
		return config_value_error("\"%.64s\" has host bits set: did you mean %s/%u, or %s?",
					  text,
					  inet_ntop(found.family, found.addr, clean, sizeof(clean)),
					  found.prefix_bits, addr);
	if (found.family == AF_INET6 && bits >= 96 &&
	    IN6_IS_ADDR_V4MAPPED((struct in6_addr *)found.addr)) {
		found.family = AF_INET;
		found.prefix_bits -= 96;
		memmove(found.addr, found.addr + 12, 4);
		memset(found.addr + 4, 0, 12);
	}
	*cidr = found;
	return NULL;
}

const char *config_cidr_text(const struct config_cidr *cidr,
			     char text[static CONFIG_CIDR_TEXT_BYTES])
{
	char addr[INET6_ADDRSTRLEN];

	snprintf(text, CONFIG_CIDR_TEXT_BYTES, "%s/%u",
		 inet_ntop(cidr->family, cidr->addr, addr, sizeof(addr)), cidr->prefix_bits);
	return text;
}

bool config_cidr_addr(const struct config_cidr *cidr, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	if (cidr->prefix_bits != addr_bytes(cidr->family) * 8)
		return false;
	memset(addr, 0, sizeof(*addr));
	addr->ss_family = cidr->family;
	if (cidr->family == AF_INET)
		memcpy(&in->sin_addr, cidr->addr, sizeof(in->sin_addr));
	else
		memcpy(&in6->sin6_addr, cidr->addr, sizeof(in6->sin6_addr));
	return true;
}

bool config_cidr_contains(const struct config_cidr *cidr, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	sa_family_t family = addr->sa_family;
	const uint8_t *bytes;

	if (family == AF_INET) {
		bytes = (const uint8_t *)&((const struct sockaddr_in *)addr)->sin_addr;
	} else if (family == AF_INET6) {
		bytes = in6->sin6_addr.s6_addr;
		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			family = AF_INET;
			bytes += 12;
		}
	} else {
		return false;
	}
	return family == cidr->family && same_prefix(bytes, cidr->addr, cidr->prefix_bits);
}

bool config_cidrs_contain(const struct config_cidrs *cidrs, const struct sockaddr *addr)
{
	for (size_t i = 0; i < cidrs->count; i++)
		if (config_cidr_contains(&cidrs->list[i], addr))
			return true;
	return false;
}
