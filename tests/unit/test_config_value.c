// SPDX-License-Identifier: BSD-3-Clause
/* Tests values of the configuration file: addresses and prefixes. */
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"

#include <arpa/inet.h>
#include <string.h>

#include "daemon/config/config.h"
#include "tests/lib/test.h"

static const struct {
	bool listen;
	const char *uri, *error; /* NULL: it is good */
	const char *host, *port;
} uris[] = {
	{false, "tcp://filer", NULL, "filer", "2049"},
	{false, "rdma://filer", NULL, "filer", "20049"},
	{false, "iwarp://10.0.0.1", NULL, "10.0.0.1", "20049"},
	{false, "verbs://[2001:db8::1]", NULL, "2001:db8::1", "20049"},
	{false, "tcp://[fe80::1%eth0]:111", NULL, "fe80::1%eth0", "111"},
	{false, "tcp://filer.example.net:65535", NULL, "filer.example.net", "65535"},
	{true, "tcp://:2049", NULL, "", "2049"},
	{true, "tcp://", NULL, "", "2049"},
	{true, "tcp://127.0.0.1:0", "port \"0\" is not a number from 1 to 65535", 0, 0},
	{false, "filer:2049",
	 "\"filer:2049\" has no transport: an address is tcp://HOST:PORT, rdma://, iwarp:// or verbs://",
	 0, 0},
	{false, "udp://filer",
	 "transport \"udp\" is none of tcp, rdma, iwarp, verbs: NFS over UDP is not supported", 0,
	 0},
	{false, "roce://filer",
	 "transport \"roce\" is none of tcp, rdma, iwarp, verbs: RoCE is verbs://, or rdma:// for any device",
	 0, 0},
	{false, "http://filer", "transport \"http\" is none of tcp, rdma, iwarp, verbs", 0, 0},
	{false, "TCP://filer",
	 "transport \"TCP\" is none of tcp, rdma, iwarp, verbs; write it in lower case", 0, 0},
	{false, "tcp://:2049", "the host is missing", 0, 0},
	{true, "tcp://[]:2049", "the host is missing", 0, 0},
	{false, "tcp://filer:0", "port \"0\" is not a number from 1 to 65535", 0, 0},
	{false, "tcp://filer:", "port \"\" is not a number from 1 to 65535", 0, 0},
	{false, "tcp://filer:nfs", "port \"nfs\" is not a number from 1 to 65535", 0, 0},
	{true, "tcp://127.0.0.1:65536", "port \"65536\" is not a number from 1 to 65535", 0, 0},
	{false, "tcp://filer:99999999999999999999",
	 "port \"99999999999999999999\" is not a number from 1 to 65535", 0, 0},
	{false, "tcp://filer/export",
	 "\"/export\": an address has no path; name the export when mounting", 0, 0},
	{false, "tcp://filer:2049/", "\"/\": an address has no path; name the export when mounting",
	 0, 0},
	{false, "tcp://[::1]/export",
	 "\"/export\": an address has no path; name the export when mounting", 0, 0},
	{true, "tcp://::1:2049", "put the IPv6 address in brackets, e.g. [fe80::1]:20049", 0, 0},
	{false, "tcp://[::1", "the bracket of the IPv6 address is not closed", 0, 0},
	{false, "tcp://[::1]2049", "\"2049\" follows the address, which must end with its port", 0,
	 0},
	{false, "tcp://[10.0.0.1]:1", "\"10.0.0.1\" is not an IPv6 address", 0, 0},
	{false, "tcp://[fe80::1%]:1", "\"\" is not an interface", 0, 0},
	{false, "tcp://10.0.0.256", "\"10.0.0.256\" is not an IPv4 address", 0, 0},
	{false, "tcp://fi ler", "\"fi ler\" is not a host name", 0, 0},
	{false, "tcp://-filer", "\"-filer\" is not a host name", 0, 0},
};

START_TEST(addresses_are_checked)
{
	struct config_uri uri = {0};
	const char *error = config_uri_parse(uris[_i].uri, uris[_i].listen, &uri);

	if (uris[_i].error) {
		ck_assert_pstr_eq(error, uris[_i].error);
	} else {
		ck_assert_pstr_eq(error, NULL);
		ck_assert_str_eq(uri.host, uris[_i].host);
		ck_assert_str_eq(uri.port, uris[_i].port);
	}
	config_uri_fini(&uri);
}
END_TEST

START_TEST(a_host_over_its_limit_is_refused)
{
	char text[400] = "tcp://";
	struct config_uri uri = {0};

	memset(text + 6, 'a', CONFIG_HOST_MAX_BYTES);
	ck_assert_pstr_eq(config_uri_parse(text, false, &uri), NULL);
	config_uri_fini(&uri);
	text[6 + CONFIG_HOST_MAX_BYTES] = 'a';
	ck_assert_pstr_eq(config_uri_parse(text, false, &uri), "the host is too long");
}
END_TEST

static const struct {
	const char *a, *b;
	bool overlaps;
} pairs[] = {
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.1:2050", false},
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.2:2049", false},
	{"tcp://127.0.0.1:20049", "iwarp://127.0.0.1:20049", true},
	{"tcp://127.0.0.1:20049", "rdma://127.0.0.1:20049", true},
	{"tcp://127.0.0.1:20049", "verbs://127.0.0.1:20049", false},
	{"verbs://127.0.0.1:20049", "rdma://127.0.0.1:20049", true},
	{"tcp://:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://[::]:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://0.0.0.0:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://0.0.0.0:2049", "tcp://[::1]:2049", false},
	{"tcp://[::1]:2049", "tcp://[0:0::1]:2049", true},
	{"tcp://[::ffff:127.0.0.1]:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://[fe80::1%a]:2049", "tcp://[fe80::1%b]:2049", false},
	{"tcp://Filer:2049", "tcp://filer:2049", true},
	{"tcp://filer:2049", "tcp://127.0.0.1:2049", false},
};

START_TEST(listen_addresses_overlap_as_the_kernel_sees_them)
{
	struct config_uri a, b;

	ck_assert_pstr_eq(config_uri_parse(pairs[_i].a, true, &a), NULL);
	ck_assert_pstr_eq(config_uri_parse(pairs[_i].b, true, &b), NULL);
	ck_assert(config_uri_overlaps(&a, &b) == pairs[_i].overlaps);
	ck_assert(config_uri_overlaps(&b, &a) == pairs[_i].overlaps);
	config_uri_fini(&a);
	config_uri_fini(&b);
}
END_TEST

static const struct {
	const char *cidr, *addr;
	bool contains;
} members[] = {
	{"10.0.0.0/8", "10.255.255.255", true},
	{"10.0.0.0/8", "11.0.0.0", false},
	{"10.0.0.0/8", "::ffff:10.1.2.3", true},
	{"::ffff:10.0.0.0/104", "10.1.2.3", true},
	{"::ffff:10.0.0.0/104", "11.1.2.3", false},
	{"10.0.0.1", "10.0.0.1", true},
	{"10.0.0.1", "10.0.0.0", false},
	{"10.0.0.0/31", "10.0.0.1", true},
	{"10.0.0.0/31", "10.0.0.2", false},
	{"0.0.0.0/0", "192.0.2.1", true},
	{"0.0.0.0/0", "::1", false},
	{"::/0", "2001:db8::1", true},
	{"::/0", "10.0.0.1", false},
	{"2001:db8::/33", "2001:db8:7fff::1", true},
	{"2001:db8::/33", "2001:db8:8000::1", false},
	{"::1/128", "::1", true},
	{"::1/128", "::2", false},
};

START_TEST(allow_knows_its_addresses)
{
	struct config_cidr cidr;
	struct service_config service = {.has_allow = true, .nallow = 1, .allow = &cidr};
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	const struct sockaddr *addr = (const struct sockaddr *)&in;

	ck_assert_pstr_eq(config_cidr_parse(members[_i].cidr, &cidr), NULL);
	if (inet_pton(AF_INET, members[_i].addr, &in.sin_addr) != 1) {
		ck_assert_int_eq(inet_pton(AF_INET6, members[_i].addr, &in6.sin6_addr), 1);
		addr = (const struct sockaddr *)&in6;
	}
	ck_assert(config_allows(&service, addr) == members[_i].contains);
}
END_TEST

#define DIGITS "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
#define COLONS                                                                                     \
	"00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:"                                         \
	"00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF"

static const struct {
	const char *text;
	bool server, client; /* whether it is a name of them */
} peers[] = {
	{"filer", true, true},
	{"nfs.example.net", true, true},
	{"192.0.2.1", true, true},
	{"2001:db8::1", true, true},
	{"[2001:db8::1]", false, false},
	{"192.0.2.1:2049", false, false},
	{"filer:2049", false, false},
	{"tcp://filer", false, false},
	{"", false, false},
	{"a b", false, false},
	{"*.example.net", false, true},
	{"*", false, false},
	{"*.", false, false},
	{"a*.example.net", false, false},
	{"a.*.net", false, false},
	{"*.*.net", false, false},
	{"*.192.0.2.1", false, false},
	{"*.2001:db8::1", false, false},
	{"sha256:" DIGITS, false, true},
	{"SHA256:" DIGITS, false, true},
	{"sha256:" COLONS, false, true},
	{"sha256:" COLONS ":", false, false},
	{"sha256:" DIGITS "0", false, false},
	{"sha256::" DIGITS, false, false},
	{"sha256:", false, false},
	{"sha256:0", false, false},
	{"sha1:" DIGITS, false, false},
	{DIGITS, true, true}, /* one label is a name, too */
};

START_TEST(names_of_certificates_are_recognised)
{
	ck_assert_int_eq(!config_tls_server_error(peers[_i].text), peers[_i].server);
	ck_assert_int_eq(!config_tls_peer_error(peers[_i].text), peers[_i].client);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_value");
	TCase *tc = tcase_create("config_value");

	tcase_add_loop_test(tc, addresses_are_checked, 0, ARRAY_SIZE(uris));
	tcase_add_test(tc, a_host_over_its_limit_is_refused);
	tcase_add_loop_test(tc, listen_addresses_overlap_as_the_kernel_sees_them, 0,
			    ARRAY_SIZE(pairs));
	tcase_add_loop_test(tc, allow_knows_its_addresses, 0, ARRAY_SIZE(members));
	tcase_add_loop_test(tc, names_of_certificates_are_recognised, 0, ARRAY_SIZE(peers));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
