#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests what ./dev hardware removes from its report (tests/hardware/scrub.py): all names and addresses, in each form in
# which RDMA tools print them, and nothing that the reader of the report needs.
# shellcheck disable=SC1091,SC2015
set -u
: "${srcdir:=.}"
. "$srcdir/tests/lib/tap.sh"
scrub=$srcdir/tests/hardware/scrub.py

# becomes WHAT LINE EXPECTED: the line becomes EXPECTED, on hosts with these names
becomes() { same "$1" "$3" "$(python3 "$scrub" --name filer7.lab.example.org --name peer9 <<<"$2")"; }

# stays WHAT LINE
stays() { becomes "$1" "$2" "$2"; }

becomes "an address of IPv4" "from 192.0.2.17:20500 to 192.0.2.17/24" "from ADDRESS-1:20500 to ADDRESS-1/24"
becomes "two addresses have two numbers" "192.0.2.17 192.0.2.18 192.0.2.17." "ADDRESS-1 ADDRESS-2 ADDRESS-1."
becomes "an address at the end of a sentence" "no answer of 192.0.2.17." "no answer of ADDRESS-1."
becomes "an address of IPv6, in brackets too" "[2001:db8::5]:20500 2001:0DB8:0::5" "[ADDRESS-1]:20500 ADDRESS-1"
becomes "a link-local address keeps its interface" "verbs://[fe80::21e:67ff:fe3a:1%eth1]:1" "verbs://[ADDRESS-1%eth1]:1"
becomes "a GID" "GID[  1]: fe80:0000:0000:0000:e61d:2dff:fef2:0a11, RoCE v2" "GID[  1]: ADDRESS-1, RoCE v2"
becomes "a GID of IPv4" "GID[  3]: ::ffff:192.0.2.17" "GID[  3]: ADDRESS-1"
becomes "a GUID as ibv_devinfo prints it" "node_guid: e41d:2d03:00f2:0a11" "node_guid: GUID-1"
becomes "a GUID as ibstat prints it" "Port GUID: 0xe41d2d0300f20a11" "Port GUID: GUID-1"
becomes "a GUID as rdma prints it" "node_guid e41d:2d03:00f2:0a11 sys_image_guid e41d:2d03:00f2:0a12" \
	"node_guid GUID-1 sys_image_guid GUID-2"
becomes "a MAC address" "link/ether e4:1d:2d:f2:0a:11 brd" "link/ether MAC-1 brd"
becomes "a MAC address with hyphens, in capitals" "E4-1D-2D-F2-0A-11" "MAC-1"
becomes "a hardware address of IPoIB" \
	"link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:f2:0a:11 brd" "link/infiniband MAC-1 brd"
becomes "an interface with its MAC address in its name" "netdev enxe41d2df20a11 state" "netdev INTERFACE-1 state"
becomes "a serial number" "Serial Number: MT1927X00123" "Serial Number: SERIAL-1"
becomes "a serial number in short" "[SN] Serial number: MT19, SN=MT19" "[SN] Serial number: SERIAL-1 SN=SERIAL-2"
becomes "a UUID" "uuid 123e4567-e89b-12d3-a456-426614174000" "uuid UUID-1"
becomes "a host, with its domain and without" "filer7 FILER7.lab.example.org mlx5_0" "HOST-1 HOST-2 mlx5_0"
becomes "another host of the same domain" "client3.lab.example.org:2049" "HOST-1:2049"
becomes "a peer" "from peer9." "from HOST-1."
becomes "a home directory" "/home/alice/rpcrdma-proxy/build" "/home/USER/rpcrdma-proxy/build"
becomes "each in one line" "filer7 192.0.2.1 e4:1d:2d:f2:0a:11" "HOST-1 ADDRESS-1 MAC-1"
becomes "a result keeps what is no name" "result 4: failed: peer9 (192.0.2.1) has gone" "result 4: failed: HOST-1 (ADDRESS-1) has gone"
same "a host that is called ok" "result 4: ok" "$(python3 "$scrub" --name ok <<<"result 4: ok")"
same "a host without a name" "localhost x" "$(python3 "$scrub" --name '' --name localhost <<<"localhost x")"
same "an address as a name: its first number is none" "99 RPCs of ADDRESS-1" \
	"$(python3 "$scrub" --name 99.0.2.1 <<<"99 RPCs of 99.0.2.1")"

stays "addresses that every host has" "127.0.0.1:20503 [::1] [::]:20500 0.0.0.0"
stays "a version of firmware with three numbers" "fw_ver: 28.39.1002"
stays "a version of firmware that looks like an address" "fw_ver: 218.0.201.0"
stays "a version of a kernel" "Linux 5.14.0-427.13.1.el9_4.x86_64"
stays "a board" "board_id: MT_0000000359"
stays "a time" "at 10:32:13 after 1:02"
stays "a PCI address" "0000:3b:00.0"
stays "figures" "max_mr_size: 0xffffffffffff, 1.5 GiB, 62500 times, 0x0000ffff"
stays "a limit of all bits, and flags" "max_mr_size: 0xffffffffffffffff device_cap_flags_ex: 0x0000000000200000"
stays "a part of another word" "filer77 peer99 peer9_old"
stays "a result" "result 11: cannot run here: VLAN: --may-configure was not given"
stays "names of C++" "mlx5::bind std::string"
tap_end
