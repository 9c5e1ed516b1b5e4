// SPDX-License-Identifier: BSD-3-Clause
/* Tests the configuration file: the message for each mistake in a value. */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

static const struct {
	const char *text, *error; /* the error after "FILE:" */
} mistakes[] = {
	{"wrokers = 2;\n", "1: unknown key \"wrokers\": did you mean \"workers\"?"},
	{"memory_limit = 2;\n",
	 "1: unknown key \"memory_limit\": did you mean \"memory_limit_mib\"?"},
	{"colour = 2;\n", "1: unknown key \"colour\""},
	/* Names of other proxies. */
	{SERVICE("listen = \"tcp://127.0.0.1\"; upstream = \"rdma://filer\";"),
	 "2: unknown key \"upstream\": did you mean \"connect\"?"},
	{SERVICE("bind = \"tcp://127.0.0.1\"; connect = \"rdma://filer\";"),
	 "2: unknown key \"bind\": did you mean \"listen\"?"},
	{SERVICE(TO_RDMA "acl = [ \"10.0.0.0/8\" ];"),
	 "2: unknown key \"acl\": did you mean \"allow\"?"},
	{SERVICE(TO_RDMA "max_clients = 5;"),
	 "2: unknown key \"max_clients\": did you mean \"max_connections\"?"},
	{SERVICE(TO_RDMA "MaxConn = 5;"),
	 "2: unknown key \"MaxConn\": did you mean \"max_connections\"?"},
	{SERVICE(TO_TCP "send-proxy-v2 = true;"),
	 "2: unknown key \"send-proxy-v2\": did you mean \"send_proxy\"?"},
	{SERVICE(TO_RDMA "threads = 5;"),
	 "2: unknown key \"threads\": did you mean \"workers\", at "
	 "the top, outside the services?"},
	{"backend = \"rdma://filer\";",
	 "1: unknown key \"backend\": did you mean \"connect\", in a service?"},
	{"nbthread = 5;", "1: unknown key \"nbthread\": did you mean \"workers\"?"},
	{"servers = ();", "1: unknown key \"servers\": did you mean \"connect\", in a service?"},
	{SERVICE(TO_RDMA "ssl_certificate = \"/a\";"),
	 "2: unknown key \"ssl_certificate\": did you mean \"tls_cert_file\"?"},
	{SERVICE(TO_RDMA "ssl_certificate_key = \"/a\";"),
	 "2: unknown key \"ssl_certificate_key\": did you mean \"tls_key_file\"?"},
	{SERVICE(TO_RDMA "crt = \"/a\";"),
	 "2: unknown key \"crt\": did you mean \"tls_cert_file\"?"},
	{SERVICE(TO_RDMA "ca-file = \"/a\";"),
	 "2: unknown key \"ca-file\": did you mean \"tls_ca_file\"?"},
	{SERVICE(TO_RDMA "CAfile = \"/a\";"),
	 "2: unknown key \"CAfile\": did you mean \"tls_ca_file\"?"},
	{SERVICE(TO_RDMA "verify = \"required\";"),
	 "2: unknown key \"verify\": did you mean \"tls_verify_client\"?"},
	{SERVICE(TO_TCP "server_tls_sslmode = \"require\";"),
	 "2: unknown key \"server_tls_sslmode\": did you mean \"tls_connect\"?"},
	{SERVICE(TO_RDMA "tls_cert = \"/a\";"),
	 "2: unknown key \"tls_cert\": did you mean \"tls_cert_file\"?"},
	{SERVICE(TO_RDMA "tls_conect = \"off\";"),
	 "2: unknown key \"tls_conect\": did you mean \"tls_connect\"?"},
	{"tls = \"required\";", "1: tls belongs into a service"},
	{SERVICE(TO_RDMA "max_connections = \"many\";"),
	 "2: max_connections is \"many\", but must be \"auto\" or from 1 to 1000000"},
	{SERVICE(TO_RDMA "max_connections = \"359\";"),
	 "2: max_connections must be a whole number, not a string: write it without quotes"},
	{SERVICE(TO_RDMA "max_connections = 0;"),
	 "2: max_connections is 0, but must be from 1 to 1000000"},
	{"credits = 2;\n", "1: credits belongs into a service"},
	{SERVICE(TO_RDMA "workers = 1;"), "2: workers belongs at the top, outside the services"},
	{SERVICE(TO_RDMA "credit = 1;"), "2: unknown key \"credit\": did you mean \"credits\"?"},
	{SERVICE(TO_RDMA "\nAllow = 1;"), "3: unknown key \"Allow\": did you mean \"allow\"?"},
	{SERVICE(TO_RDMA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1;"),
	 "2: unknown key \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""},
	{"workers = \"two\";",
	 "1: workers must be a whole number, not a string: write it without quotes"},
	{"workers = 1.5;", "1: workers must be a whole number, not a fraction"},
	{"workers = -1;", "1: workers is -1, but must be from 0 to 256"},
	{"workers = 257;", "1: workers is 257, but must be from 0 to 256"},
	{"workers = 4294967298L;", "1: workers is 4294967298, but must be from 0 to 256"},
	{"workers = 4294967298;", "1: 4294967298 is too large a number"},
	{"# 4294967298\ncontrol = \"/\\\"4294967298\"; // \"9999999999\n/* 9999999999\n"
	 " */ workers = 0x2; memory_limit_mib = 4294967396;",
	 "4: 4294967396 is too large a number"},
	{"memory_limit_mib = 0;", "1: memory_limit_mib is 0, but must be from 1 to 1048576 MiB"},
	{"http_listen = 5;", "1: http_listen must be a string in quotes, not a number"},
	{"http_listen = \"localhost:9180\";",
	 "1: http_listen is \"localhost:9180\", but must be ADDRESS:PORT, e.g. 127.0.0.1:9180 or "
	 "[::1]:9180"},
	{"http_listen = \"http://127.0.0.1:9180/\";",
	 "1: http_listen is \"http://127.0.0.1:9180/\", but must be ADDRESS:PORT without http://"},
	{"http_listen = \"127.0.0.1:9180\"; http_allow = [ ];",
	 "1: http_allow is empty: no client can use http_listen"},
	{"http_listen = \"[::1]\";",
	 "1: http_listen is \"[::1]\", but must be ADDRESS:PORT, e.g. 127.0.0.1:9180 or [::1]:9180"},
	{"http_listen = \"::1:9180\";",
	 "1: http_listen: put the IPv6 address in brackets, e.g. [fe80::1]:20049"},
	{"http_listen = \"127.0.0.1:0\";",
	 "1: http_listen: port \"0\" is not a number from 1 to 65535"},
	{"http_listen = \"10.0.0.1:9180\";",
	 "1: http_listen is not a loopback address: list the allowed clients, e.g. http_allow = [ "
	 "\"10.0.0.0/8\" ]"},
	{"http_listen = \"[::]:9180\";",
	 "1: http_listen is not a loopback address: list the allowed clients, e.g. http_allow = [ "
	 "\"10.0.0.0/8\" ]"},
	{"http_allow = \"10.0.0.0/8\";",
	 "1: http_allow must be an array of strings: [ \"10.0.0.0/8\" ], not a string"},
	{"http_allow = [ \"10.0.0.0/33\" ];",
	 "1: http_allow: prefix length \"33\" is not a number from 0 to 32"},
	{"http_hosts = [ \".\" ];", "1: http_hosts: a name must not consist of dots only"},
	{"http_hosts = [ \"\" ];", "1: http_hosts: a name must have from 1 to 255 characters"},
	{"control = 5;", "1: control must be a string in quotes, not a number"},
	{"control = \"run/sock\";", "1: control must be an absolute path"},
	{"control = \"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaa\";",
	 "1: control must have at most 107 bytes, the length of a socket's address"},
	{"services = { };",
	 "1: services must be a list of groups: ( { ... }, { ... } ), not a group { }"},
	{"services = ( 5 );", "1: a service must be a group { }, not a number"},
	{"services = (\n{ listen = \"tcp://127.0.0.1\"; connect = \"rdma://filer\"; }\n);",
	 "2: name is missing in this service"},
	{"services = (\n{ name = \"a\"; connect = \"rdma://filer\"; }\n);",
	 "2: listen is missing in this service"},
	{"services = (\n{ name = \"a\"; listen = \"tcp://127.0.0.1\"; }\n);",
	 "2: connect is missing in this service"},
	{"services = ( { name = \"\"; " TO_RDMA "} );",
	 "1: name must have from 1 to 64 characters"},
	{"services = ( { name = \"a b\"; " TO_RDMA "} );",
	 "1: name can contain only letters, digits, '.', '_' and '-'"},
	{"services = ( { name = \"a\"; " TO_RDMA "},\n{ name = \"a\"; " TCP_TO_TCP "} );",
	 "2: name \"a\" is already used by the service at line 1"},
	{"services = ( { name = \"a\"; " TO_RDMA "},\n{ name = \"b\"; " TO_RDMA "} );",
	 "2: listen: the service at line 1 uses that port already"},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\";\nconnect = \"tcp://127.0.0.1:2049\";"),
	 "3: connect: the service at line 2 listens there: the daemon would connect to itself"},
	{"services = ( { name = \"a\"; " TO_TCP "},\n{ name = \"b\"; " TO_RDMA "} );",
	 "1: connect: the service at line 2 listens there: the daemon would connect to itself"},
	{SERVICE(TO_RDMA "register = \"nfs\";"),
	 "2: register is \"nfs\", but must be true, false or \"mount\""},
	{SERVICE(TO_RDMA "register = 1;"),
	 "2: register must be true, false or \"mount\", not a number"},
	{SERVICE(TO_RDMA "register = \"true\";"),
	 "2: register must be true, false or \"mount\", not a string: write it without quotes"},
	{SERVICE(TO_RDMA "mount = 5;"), "2: mount must be a string in quotes, not a number"},
	{SERVICE(TO_RDMA "mount = \"rdma://a:1\";"),
	 "2: mount: it must be \"connect\", \"rpcbind\", \"off\" or tcp://HOST:PORT"},
	{SERVICE(TO_RDMA "mount = \"tcp://filer\";"),
	 "2: mount: the port of MOUNT is missing: tcp://HOST:PORT"},
	{SERVICE(TO_RDMA "mount = \"tcp://[::1]\";"),
	 "2: mount: the port of MOUNT is missing: tcp://HOST:PORT"},
	{SERVICE(TO_RDMA "mount = \"tcp://:1\";"), "2: mount: the host is missing"},
	{SERVICE(TO_RDMA "\nmount = \"tcp://127.0.0.1:2049\";"),
	 "3: mount: the service at line 2 listens there: the daemon would connect to itself"},
	{SERVICE("listen = \"rdma://127.0.0.1\";\nconnect = [ \"tcp://a\", \"tcp://a:2049\" ];"),
	 "3: connect: this server is listed twice"},
	{SERVICE("listen = \"tcp://127.0.0.1\";\nconnect = [ \"rdma://a\", \"tcp://b\" ];"),
	 "3: connect: all servers of a service must have the same transport"},
	{SERVICE("listen = \"tcp://127.0.0.1\";\nconnect = [ \"rdma://a\", \"rdma://b:0\" ];"),
	 "3: connect: port \"0\" is not a number from 1 to 65535"},
	{SERVICE("listen = \"tcp://127.0.0.1\";\nconnect = [ ];"),
	 "3: connect has 0 servers, but must have from 1 to 16"},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\";\n"
		 "connect = [ \"tcp://127.0.0.2:2049\", \"tcp://127.0.0.1:2049\" ];"),
	 "3: connect: the service at line 2 listens there: the daemon would connect to itself"},
	{SERVICE(TO_RDMA "balance = \"first\";"),
	 "2: balance is \"first\", but must be \"standby\" or \"source\""},
	{SERVICE(TO_RDMA "connect_timeout_s = 11;"),
	 "2: connect_timeout_s is 11, but must be from 1 to 10 s"},
	/* TLS. */
	{SERVICE(TO_RDMA "tls = \"on\";"),
	 "2: tls is \"on\", but must be \"off\", \"allowed\" or \"required\""},
	{SERVICE(TO_RDMA "tls = true;"),
	 "2: tls must be \"off\", \"allowed\" or \"required\", not true or false"},
	{SERVICE(TO_RDMA "\ntls = \"required\";"),
	 "3: tls is \"required\", but tls_cert_file is not set: clients need the certificate of "
	 "this service"},
	{SERVICE(TO_RDMA "tls = \"allowed\";"),
	 "2: tls is \"allowed\", but tls_cert_file is not set: clients need the certificate of "
	 "this service"},
	{"defaults = { tls = \"allowed\"; };\nservices = (\n{ name = \"a\"; " TO_RDMA " } );",
	 "3: tls is \"allowed\", but tls_cert_file is not set: clients need the certificate of "
	 "this service"},
	{SERVICE(TO_TCP "tls = \"required\"; tls_cert_file = \"/c\";"),
	 "2: tls is for services that listen on tcp://"},
	{SERVICE(TO_RDMA "tls_connect = \"required\";"),
	 "2: tls_connect is for services that connect to tcp://"},
	{SERVICE(TO_RDMA "mount = \"tcp://filer:20048\"; tls_connect = \"required\";"),
	 "2: tls_connect is for services that connect to tcp://"},
	{SERVICE(TO_TCP "tls_connect = \"allowed\";"),
	 "2: tls_connect is \"allowed\", but must be \"off\" or \"required\""},
	{SERVICE(RDMA_TO_RDMA "tls_cert_file = \"/c\";"),
	 "2: tls_cert_file is for services with a tcp:// side"},
	{SERVICE(TO_RDMA "tls_cert_file = \"c.pem\";"),
	 "2: tls_cert_file must be an absolute path"},
	{SERVICE(TO_RDMA "tls_cert_file = [ \"/c\" ];"),
	 "2: tls_cert_file must be a string in quotes, not an array [ ]"},
	{SERVICE(TO_RDMA "tls_key_file = \"/k\";"), "2: tls_key_file needs tls_cert_file"},
	{SERVICE(TO_RDMA "tls_verify_client = \"required\";"),
	 "2: tls_verify_client needs tls_ca_file, the authorities that sign the certificates of "
	 "clients"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"a.example\" ];"),
	 "2: tls_client_names needs tls_verify_client = \"required\" or \"optional\": without it no "
	 "certificate is demanded"},
	{SERVICE(TO_RDMA "tls_client_names = \"a.example\";"),
	 "2: tls_client_names must be an array of strings: [ \"client.example.net\" ], not a string"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"a b\" ];"),
	 "2: tls_client_names: it must be a DNS name, an IP address or a fingerprint (sha256:HEX) of "
	 "a certificate"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"\" ];"),
	 "2: tls_client_names: it must be a DNS name, an IP address or a fingerprint (sha256:HEX) of "
	 "a certificate"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"a.*.example\" ];"),
	 "2: tls_client_names: a wildcard must be the whole first label of a name: *.example.net"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"*.192.0.2.1\" ];"),
	 "2: tls_client_names: a wildcard must be the whole first label of a name: *.example.net"},
	{SERVICE(TO_RDMA "tls_client_names = [ \"sha256:AA:BB\" ];"),
	 "2: tls_client_names: a fingerprint must be sha256: and 64 hexadecimal digits"},
	{SERVICE(TO_TCP "tls_server_name = \"filer:2049\";"),
	 "2: tls_server_name: it must be a DNS name or an IP address of a certificate, without "
	 "port"},
	{SERVICE(TO_TCP "tls_server_name = \"*.example.net\";"),
	 "2: tls_server_name: it must be a DNS name or an IP address of a certificate, without "
	 "port"},
	{SERVICE(TO_TCP "tls_server_name = \".example.net\";"),
	 "2: tls_server_name: it must be a DNS name or an IP address of a certificate, without "
	 "port"},
	{SERVICE(TO_TCP "tls_server_name = 5;"),
	 "2: tls_server_name must be a string in quotes, not a number"},
	{SERVICE(TO_RDMA "tls_server_name = \"filer\";"),
	 "2: tls_server_name is for services that connect to tcp://"},
	{SERVICE(TO_RDMA "credits = 0;"), "2: credits is 0, but must be from 1 to 1024"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 5000;"),
	 "2: inline_threshold_bytes is 5000, but must be a multiple of 1024"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 512;"),
	 "2: inline_threshold_bytes is 512, but must be from 1024 to 262144 bytes"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 65536; max_message_bytes = 20000;"),
	 "2: inline_threshold_bytes is above max_message_bytes (20000)"},
	{SERVICE(TO_RDMA "config_program = 100003;"),
	 "2: config_program is 100003, which is the number of NFS"},
	{SERVICE(TO_RDMA "config_program = 1073741824;"),
	 "2: config_program is 1073741824, which is the number of NFS_CB"},
	{SERVICE(TO_RDMA "fpdu_max = \"1k\";"),
	 "2: fpdu_max is \"1k\", but must be \"auto\", \"mss\" or \"64k\""},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://filer\"; rnr_retry = 1;"),
	 "2: rnr_retry is for services with an rdma:// or verbs:// side"},
	{SERVICE(TO_RDMA "rnr_retry = 7;"), "2: rnr_retry is 7, but must be from 0 to 6"},
	{SERVICE(TO_RDMA "rdma_ack_timeout = 23;"),
	 "2: rdma_ack_timeout is 23, but must be from 0 to 22"},
	{SERVICE(TO_RDMA "rdma_tos = 256;"), "2: rdma_tos is 256, but must be from 0 to 255"},
	{SERVICE(TO_RDMA "memory_windows = \"on\";"),
	 "2: memory_windows is \"on\", but must be \"auto\" or \"off\""},
	{SERVICE(TO_RDMA "rdma_domain = \"host\";"),
	 "2: rdma_domain is \"host\", but must be \"auto\", \"connection\", \"peer\" or \"worker\""},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://filer\"; rdma_tos = 1;"),
	 "2: rdma_tos is for services with an rdma:// or verbs:// side"},
	{SERVICE(TO_RDMA "busy_poll_us = 1001;"),
	 "2: busy_poll_us is 1001, but must be from 0 to 1000 us"},
	{SERVICE(TO_RDMA "fpdu_max = 64;"),
	 "2: fpdu_max must be \"auto\", \"mss\" or \"64k\", not a number"},
	{SERVICE(TO_RDMA "mpa_crc = 1;"), "2: mpa_crc must be true or false, not a number"},
	{SERVICE(TO_RDMA "source_port = \"any\";"),
	 "2: source_port is for services that connect to tcp://, or whose mount does"},
	{SERVICE(TO_TCP "require_privileged_port = true;"),
	 "2: require_privileged_port is for services that listen on tcp://"},
	{SERVICE(TO_TCP "peer = \"linux\";"),
	 "2: peer is for services that connect to an RDMA server"},
	{SERVICE("listen = \"tcp://:1\"; connect = \"rdma://b\"; send_proxy = true;"),
	 "2: send_proxy is for services that connect to tcp:// or iwarp://"},
	{SERVICE(TO_TCP "accept_proxy_from = [ \"10.0.0.1\" ];"),
	 "2: accept_proxy_from is for services that listen on tcp:// or iwarp://"},
	{SERVICE(TCP_TO_TCP "trusted_proxies = [ \"10.0.0.1\" ];"),
	 "2: trusted_proxies is for services that listen on rdma:// or iwarp://"},
	{SERVICE(TO_TCP "trusted_proxies = [ \"10.0.0.1/33\" ];"),
	 "2: trusted_proxies: prefix length \"33\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "accept_proxy_from = [ \"10.0.0.1/33\" ];"),
	 "2: accept_proxy_from: prefix length \"33\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "peer = \"knfsd\";"),
	 "2: peer is \"knfsd\", but must be \"auto\", \"linux\", \"ganesha\", \"chimera\", "
	 "\"solaris\" or \"strict\""},
	{SERVICE(TO_TCP "ddp = \"nfs\";"), "2: ddp is for services that connect to an RDMA server"},
	{SERVICE(TO_RDMA "listen_version = 1;"),
	 "2: listen_version is for services that listen for RDMA clients"},
	{SERVICE(TO_TCP "listen_version = 3;"), "2: listen_version is 3, but must be from 1 to 2"},
	{SERVICE(TO_TCP "connect_version = 2;"),
	 "2: connect_version is for services that connect to an RDMA server"},
	{SERVICE(TO_RDMA "connect_version = 0;"),
	 "2: connect_version is 0, but must be from 1 to 2"},
	{SERVICE(TCP_TO_TCP "receive_max_bytes = 8192;"),
	 "2: receive_max_bytes is for services with an RDMA side"},
	{SERVICE(TO_RDMA "receive_max_bytes = 3072;"),
	 "2: receive_max_bytes is 3072, but must be from 4096 to 262144 bytes"},
	{SERVICE(TO_RDMA "receive_max_bytes = 263168;"),
	 "2: receive_max_bytes is 263168, but must be from 4096 to 262144 bytes"},
	{SERVICE(TO_RDMA "receive_max_bytes = 5000;"),
	 "2: receive_max_bytes is 5000, but must be a multiple of 1024"},
	{SERVICE(TCP_TO_TCP "characteristics = true;"),
	 "2: characteristics is for services with an RDMA side"},
	{SERVICE(TCP_TO_TCP "reverse_chunks = true;"),
	 "2: reverse_chunks is for services with an RDMA side"},
	{SERVICE(TCP_TO_TCP "strict_chunks = true;"),
	 "2: strict_chunks is for services with an RDMA side"},
	{SERVICE(TO_RDMA "version = 2;"),
	 "2: unknown key \"version\": did you mean \"listen_version\"?"},
	{SERVICE(TCP_TO_TCP "credits = 5;"), "2: credits is for services with an RDMA side"},
	{SERVICE(TCP_TO_TCP "mpa_crc = true;"),
	 "2: mpa_crc is for services with an rdma:// or iwarp:// side"},
	{SERVICE(TO_RDMA "allow = \"10.0.0.0/8\";"),
	 "2: allow must be an array of strings: [ \"10.0.0.0/8\" ], not a string"},
	{SERVICE(TO_RDMA "allow = [ 10 ];"), "2: allow must be an array of strings, not a number"},
	{SERVICE(TO_RDMA "allow = [\n\"10.0.0.0/33\" ];"),
	 "3: allow: prefix length \"33\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/\" ];"),
	 "2: allow: prefix length \"\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "allow = [ \"::/129\" ];"),
	 "2: allow: prefix length \"129\" is not a number from 0 to 128"},
	{SERVICE(TO_RDMA "allow = [ \"filer\" ];"),
	 "2: allow: \"filer\" is not an IPv4 or IPv6 address: names are not supported here"},
	{SERVICE(TO_RDMA "allow = [ \"fe80::1%eth0\" ];"),
	 "2: allow: \"fe80::1%eth0\" is not an IPv4 or IPv6 address: write it without its interface"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.1/8\" ];"),
	 "2: allow: \"10.0.0.1/8\" has host bits set: did you mean 10.0.0.0/8, or 10.0.0.1?"},
	{SERVICE(TO_RDMA "allow = [ \"2001:db8::1/33\" ];"),
	 "2: allow: \"2001:db8::1/33\" has host bits set: did you mean 2001:db8::/33, or "
	 "2001:db8::1?"},
	{"workers = 64;\nmemory_limit_mib = 2;\n" SERVICE(TO_RDMA),
	 "2: memory_limit_mib is 2, but must be at least 3: each service (1 in all) needs a guaranteed share of 2.1 MiB"},
	{SERVICE(TO_RDMA "max_message_bytes = 268435457;"),
	 "2: max_message_bytes is 268435457, but must be from 16384 to 268435456 bytes"},
	/* A mistake is told once: nothing is said that only follows from it. */
	{SERVICE(TO_RDMA "\nmax_connections = 99999999999;"),
	 "3: 99999999999 is too large a number"},
	{"workers = 0x1ffffffff;", "1: 0x1ffffffff is too large a number"},
	{"workers = -99999999999;", "1: 99999999999 is too large a number"},
	{SERVICE("lisen = \"tcp://127.0.0.1\"; connect = \"rdma://filer\";"),
	 "2: unknown key \"lisen\": did you mean \"listen\"?"},
	{"services = ( { name = \"a b a b a b a b a b a b a b a b a b a b a b a b a b a b a b a b a b "
	 "a b a\"; " TO_RDMA "} );",
	 "1: name must have from 1 to 64 characters"},
	{SERVICE(TO_RDMA "mpa_crc = \"true\";"),
	 "2: mpa_crc must be true or false, not a string: write it without quotes"},
	{"services = ( { name = 5; " TO_RDMA "} );",
	 "1: name must be a string in quotes, not a number"},
	/* Addresses. */
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"iwarp://filer:/export\";"),
	 "2: connect: \"/export\": an address has no path; name the export when mounting"},
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"filer:/export\";"),
	 "2: connect: \"filer:/export\" has no transport: an address is tcp://HOST:PORT, rdma://, "
	 "iwarp:// or verbs://, and has no path: name the export when mounting"},
	{SERVICE("listen = \"2049\"; connect = \"rdma://filer\";"),
	 "2: listen: \"2049\" has no transport: an address is tcp://HOST:PORT, rdma://, iwarp:// or "
	 "verbs://"},
	{SERVICE("listen = \"nfs://127.0.0.1\"; connect = \"rdma://filer\";"),
	 "2: listen: transport \"nfs\" is none of tcp, rdma, iwarp, verbs: NFS over TCP is tcp://, "
	 "over RDMA rdma://"},
	{SERVICE("listen = \"tcp://*:2049\"; connect = \"rdma://filer\";"),
	 "2: listen: \"*\" is not a host name: leave out the host to listen on every address, tcp://:2049"},
	/* Who is allowed. */
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/8\"\n\"10.1.0.0/16\" ];"),
	 "2: is a comma missing between \"10.0.0.0/8\" and \"10.1.0.0/16\"?"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.1\" /* and */ \"10.0.0.2\" ];"),
	 "2: is a comma missing between \"10.0.0.1\" and \"10.0.0.2\"?"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/255.0.0.0\" ];"),
	 "2: allow: prefix length \"255.0.0.0\" is not a number from 0 to 32: write /8"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/0.0.0.0\" ];"),
	 "2: allow: prefix length \"0.0.0.0\" is not a number from 0 to 32: write /0"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/255.0.255.0\" ];"),
	 "2: allow: prefix length \"255.0.255.0\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "allow = [ \"*\" ];"),
	 "2: allow: \"*\" is not an IPv4 or IPv6 address: write \"0.0.0.0/0\" and \"::/0\" for every address"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.*\" ];"),
	 "2: allow: \"10.0.0.*\" is not an IPv4 or IPv6 address: write a range as a prefix such as "
	 "10.0.0.0/8"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.1-10.0.0.9\" ];"),
	 "2: allow: \"10.0.0.1-10.0.0.9\" is not an IPv4 or IPv6 address: write a range as a prefix "
	 "such as 10.0.0.0/8"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/8,10.1.0.1\" ];"),
	 "2: allow: \"10.0.0.0/8,10.1.0.1\" is not an IPv4 or IPv6 address: write each as a separate string without blanks: [ \"10.0.0.0/8\", \"192.0.2.1\" ]"},
	{SERVICE(TO_RDMA "allow = [ \"[::1]\" ];"),
	 "2: allow: \"[::1]\" is not an IPv4 or IPv6 address: write it without brackets and port"},
};

START_TEST(each_mistake_is_named_with_its_line)
{
	ck_assert_int_eq(config_fixture_load(mistakes[_i].text), -EINVAL);
	ck_assert_ptr_null(fixture.config);
	ck_assert_str_eq(fixture.errors, config_fixture_at(mistakes[_i].error));
}
END_TEST

START_TEST(all_mistakes_are_reported)
{
	ck_assert_int_eq(
		config_fixture_load("workers = -1;\nfoo = 1;\nservices = ( { listen = 5; } );\n"),
		-EINVAL);
	ck_assert_str_eq(fixture.errors,
			 config_fixture_at("1: workers is -1, but must be from 0 to 256\n"
					   "2: unknown key \"foo\"\n"
					   "3: listen must be a string in quotes, not a number\n"
					   "3: name is missing in this service\n"
					   "3: connect is missing in this service\n"));
}
END_TEST

/* What a terminal would obey, or would show as a line of its own. */
START_TEST(quotes_from_the_file_have_no_control_characters)
{
	static const struct {
		const char *text, *error;
	} quotes[] = {
		{SERVICE(TO_TCP "source_port = \"\\x1b[2J\\nfile: OK\x7f\";"),
		 ":2: source_port is \"?[2J?file: OK?\", but must be "},
		{SERVICE("listen = \"tcp://\x1b[2J\";"),
		 ":2: listen: \"?[2J\" is not a host name\n"},
		{"@include \"\x1b[2J\"\n", ":1: @include \"?[2J\": cannot read "},
	};

	ck_assert_int_eq(config_fixture_load(quotes[_i].text), -EINVAL);
	ck_assert_ptr_nonnull(strstr(fixture.errors, quotes[_i].error));
	for (const char *c = fixture.errors; *c; c++)
		ck_assert(*c == '\n' || ((unsigned char)*c >= ' ' && *c != 0x7f));
	ck_assert_ptr_null(strstr(fixture.errors, "\nfile: OK"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_messages");
	TCase *tc = tcase_create("config_messages");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_loop_test(tc, each_mistake_is_named_with_its_line, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tc, all_mistakes_are_reported);
	tcase_add_loop_test(tc, quotes_from_the_file_have_no_control_characters, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
