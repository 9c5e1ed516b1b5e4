// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/proxy_scene.h"

#include <unistd.h>

uint16_t front, back;
int server;

void scene_setup(void)
{
	fixture_setup();
	front = fixture_port();
	back = fixture_port();
	server = fixture_listen(back);
}

void scene_teardown(void)
{
	fixture_teardown();
	if (server >= 0)
		close(server);
}

void start_tcp(const char *more)
{
	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " %s }",
		      front, back, more);
}

void open_pair(uint32_t xid, int *client, int *upstream, uint16_t *from)
{
	*client = fixture_connect(front);
	send_call(*client, xid, 0);
	*upstream = fixture_accept_call(server, xid, from);
}
