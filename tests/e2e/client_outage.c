// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients of a server that goes down and recovers. Each makes one Call at a time, and reconnects
 * half a second after it loses its connection, as kernels do. Prints their state when it changes:
 * "all" have had a Reply on their present connection, or "none".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define CLIENTS_MAX 500
#define CALL_MS     200
#define BACK_MS     500
#define TURN_MS     20

struct patient {
	struct net *net;
	struct conn *conn; /* NULL: it waits until it comes back */
	bool closed, answered, waits;
	uint64_t due_ms; /* the next Call, or when it comes back */
	uint32_t xid;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct patient *patient = conn->arg;
	struct message reply;

	if (!message_parse(&reply, data, len) || reply.xid != patient->xid)
		fail("a Reply that nobody waits for");
	patient->answered = true;
	patient->waits = false;
	patient->due_ms = now_ms() + CALL_MS;
}

static void ended(struct conn *conn)
{
	((struct patient *)conn->arg)->closed = true;
}

static void call(struct patient *patient)
{
	struct buf buf = {0};

	call_begin(&buf, ++patient->xid, NFS_PROGRAM, 3, 0, AUTH_NONE);
	conn_send_record(patient->conn, buf.data, buf.len);
	buf_free(&buf);
	patient->waits = true;
}

static void come(struct patient *patient, uint16_t port)
{
	patient->conn = net_connect(patient->net, port, 0, 0);
	patient->conn->received = received;
	patient->conn->ended = ended;
	patient->conn->arg = patient;
	call(patient);
}

static void step(struct patient *patient, uint16_t port)
{
	if (patient->closed) {
		conn_free(patient->conn, false);
		*patient = (struct patient){
			.net = patient->net, .xid = patient->xid, .due_ms = now_ms() + BACK_MS};
	}
	if (patient->waits || now_ms() < patient->due_ms)
		return;
	if (patient->conn)
		call(patient);
	else
		come(patient, port);
}

static unsigned count_answered(const struct patient *patients, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += patients[i].answered;
	return sum;
}

int scenario_outage(const struct ports *ports, int argc, char **argv)
{
	static struct patient patients[CLIENTS_MAX];
	unsigned n = argc > 0 ? (unsigned)strtoul(argv[0], NULL, 10) : 0, told = 1;
	struct net net;

	if (!n || n > CLIENTS_MAX)
		fail("outage CLIENTS, %d at most", CLIENTS_MAX);
	net_init(&net);
	for (unsigned i = 0; i < n; i++)
		patients[i] = (struct patient){.net = &net, .xid = i << 16};
	for (;;) {
		unsigned answered;

		for (unsigned i = 0; i < n; i++)
			step(&patients[i], ports->front);
		net_turn(&net, TURN_MS);
		answered = count_answered(patients, n);
		if (answered != told && (answered == 0 || answered == n))
			puts(answered ? "all" : "none");
		if (answered == 0 || answered == n)
			told = answered;
	}
}
