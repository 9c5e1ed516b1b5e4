// SPDX-License-Identifier: BSD-3-Clause
/* What a check says of what it found. */
#include "daemon/health/check_words.h"

#include <stdio.h>

#define ANY_LOG "its log may say why"

static const char *connect_advice(enum transport transport, enum leg_close why)
{
	bool is_rdma = transport != TRANSPORT_TCP;

	switch (why) {
	case LEG_CLOSE_NO_ADDRESS:
		return "mend the host name in connect, or /etc/hosts or the name servers (getent "
		       "ahosts HOST)";
	case LEG_CLOSE_OWN_UPSTREAM:
		return "connect leads back to this daemon: name the server";
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
		return "this host has none of source_address any more (ip address)";
	case LEG_CLOSE_RESOURCES:
		return "this host is short of memory or descriptors (LimitNOFILE=)";
	default:
		break;
	}
	if (is_rdma)
		return "is it up, and is that its RDMA port (20049 by default; rdma=y in a Linux server's "
		       "/etc/nfs.conf) and its fabric? For NFS over TCP connect is tcp://";
	switch (why) {
	case LEG_CLOSE_REFUSED:
		return "start the server, or mend the port in connect: NFS over TCP has 2049";
	case LEG_CLOSE_UNREACHABLE:
		return "mend the address in connect, start the host, or open the port in the "
		       "firewalls between (ping, ip route get ADDRESS)";
	case LEG_CLOSE_NO_SOURCE_PORT:
		return "source_port = \"reserved\" has none left, or lacks CAP_NET_BIND_SERVICE: see "
		       "the unit";
	case LEG_CLOSE_TIMEOUT:
		return "packets get lost: does a firewall drop them, or is the address wrong?";
	default:
		return "is that the server's port? " ANY_LOG;
	}
}

static const char *lost_advice(enum check_step_id id, enum transport transport,
			       const struct check_conn_news *news)
{
	if (news->event == CHECK_CONN_UNREACHED)
		return connect_advice(transport, news->why);
	if (id == CHECK_LONG_CALL || id == CHECK_LONG_REPLY)
		return "what does not fit inline does not get through: clients will hang on it. Try "
		       "another peer or ddp (rpcrdma-proxy.conf(5))";
	if (news->event == CHECK_CONN_LATE)
		return "the server takes connections and does not answer: does it hang, or is "
		       "something else listening there?";
	if (news->why == LEG_CLOSE_PEER || news->why == LEG_CLOSE_LOST)
		return "does it refuse this host (exports, firewall, reserved ports: source_port), "
		       "or is it no NFS server? " ANY_LOG;
	return "what answers there does not speak what connect says: mend its transport or port";
}

void check_words_lost(struct check_step *step, enum check_step_id id, enum transport transport,
		      const struct check_conn_news *news)
{
	step->result = CHECK_FAILED;
	step->why = news->event == CHECK_CONN_LATE ? LEG_CLOSE_SILENT : news->why;
	step->advice = lost_advice(id, transport, news);
	if (news->event == CHECK_CONN_LATE)
		snprintf(step->what, sizeof(step->what), "no answer%s%s",
			 news->detail[0] ? ", but: " : " in time", news->detail);
	else
		snprintf(step->what, sizeof(step->what), "%s%s%s", leg_close_text(news->why),
			 news->detail[0] ? ": " : "", news->detail);
}

void check_words_fault(struct check_step *step, enum check_step_id id, enum exchange_fault fault)
{
	static const char *const texts[] = {
		[EXCHANGE_OK] = "",
		[EXCHANGE_FAULT_ERR_CHUNK] = "the server's transport refuses its form (ERR_CHUNK)",
		[EXCHANGE_FAULT_ERR_VERS] = "the server's transport refuses its version (ERR_VERS)",
		[EXCHANGE_FAULT_BAD_REPLY] = "the Reply breaks the protocol",
		[EXCHANGE_FAULT_TOO_BIG] = "the Reply is larger than it may be",
		[EXCHANGE_FAULT_CANT_SEND] = "the Call cannot be sent this way",
		[EXCHANGE_FAULT_LATE] = "no answer in time",
	};

	step->result = CHECK_FAILED;
	step->why = fault == EXCHANGE_FAULT_CANT_SEND ? LEG_CLOSE_LOCAL : LEG_CLOSE_BAD_REPLY;
	snprintf(step->what, sizeof(step->what), "%s", texts[fault]);
	step->advice =
		id == CHECK_LONG_CALL
			? "the server takes no long Calls: set ddp = \"nfs\", or peer to what "
			  "it is (rpcrdma-proxy.conf(5))"
			: "the server breaks the protocol: set peer to what it is, or update "
			  "it; " ANY_LOG;
}

static const char *accept_text(enum rpc_accept_stat stat)
{
	static const char *const texts[] = {
		[RPC_SUCCESS] = "SUCCESS",
		[RPC_PROG_UNAVAIL] = "PROG_UNAVAIL: it has no NFS",
		[RPC_PROG_MISMATCH] = "PROG_MISMATCH: it has no such version of NFS",
		[RPC_PROC_UNAVAIL] = "PROC_UNAVAIL: it has no such procedure",
		[RPC_GARBAGE_ARGS] = "GARBAGE_ARGS: the Call came damaged, or it cannot read it",
		[RPC_SYSTEM_ERR] = ("SYSTEM_ERR: it is short of something, or a proxy before it "
				    "has no server"),
	};

	return texts[stat];
}

void check_words_refused(struct check_step *step, const struct probe_reply *reply)
{
	step->result = CHECK_FAILED;
	step->advice = ANY_LOG;
	if (!reply->is_rpc) {
		step->why = LEG_CLOSE_BAD_REPLY;
		snprintf(step->what, sizeof(step->what), "a Reply that cannot be read");
		step->advice = "is it an NFS server that listens there?";
	} else if (!reply->accepted) {
		snprintf(step->what, sizeof(step->what),
			 "the server refuses who asks (auth_stat %u)", reply->auth_stat);
		step->advice =
			"AUTH_TOOWEAK (5) asks for a security flavour as krb5, which clients "
			"bring along; else see its exports";
	} else {
		snprintf(step->what, sizeof(step->what), "the server answers %s",
			 accept_text(reply->stat));
	}
}
