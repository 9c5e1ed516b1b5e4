// SPDX-License-Identifier: BSD-3-Clause
/* Prints characteristics that rpcgen's code for rpcrdma_v2.x decoded. */
#include "tests/unit/rpcgen_filter.h"

#include "rpcrdma_v2.h"

static bool same_rbsiz(const char *data, u_int len)
{
	xchar_rbsiz size = 0;

	return rpcgen_same((xdrproc_t)xdr_xchar_rbsiz, data, len, &size);
}

static bool same_rqreminv(const char *data, u_int len)
{
	xchar_rqreminv ready = 0;

	return rpcgen_same((xdrproc_t)xdr_xchar_rqreminv, data, len, &ready);
}

/* rpcgen lets an enum be any number. */
static bool same_brs(const char *data, u_int len)
{
	xchar_brs support = XCHAR_SUPPORT_UNKNOWN;

	return rpcgen_same((xdrproc_t)xdr_xchar_brs, data, len, &support) &&
	       (u_int)support <= XCHAR_SUPPORT_GENL;
}

static bool say_value(const xchar_value *value)
{
	const char *data = value->data.data_val;
	u_int len = value->data.data_len;

	say_number(value->which);
	say_bytes(data, len);
	switch (value->which) {
	case XCHAR_RBSIZ:
		return same_rbsiz(data, len);
	case XCHAR_RQREMINV:
		return same_rqreminv(data, len);
	case XCHAR_BRS:
		return same_brs(data, len);
	default:
		return true;
	}
}

static bool say_spec(const xchar_spec *spec)
{
	bool well_formed = true;

	say_number(spec->xchar_spec_len);
	for (u_int i = 0; i < spec->xchar_spec_len; i++)
		well_formed &= say_value(&spec->xchar_spec_val[i]);
	return well_formed;
}

static void say_subset(const xchar_subset *subset)
{
	say_number(subset->xchar_subset_len);
	for (u_int i = 0; i < subset->xchar_subset_len; i++)
		say_number(subset->xchar_subset_val[i]);
}

static bool show_init(const void *value)
{
	const xchar_init *init = value;
	bool well_formed;

	say_number(XCHAR_INIT);
	well_formed = say_spec(&init->start);
	say_subset(&init->nochg);
	return well_formed;
}

static bool show_req(const void *value)
{
	const xchar_req *req = value;

	say_number(XCHAR_REQ);
	return say_spec(&req->want);
}

static bool show_resp(const void *value)
{
	const xchar_resp *resp = value;

	say_number(XCHAR_RESP);
	say_subset(&resp->done);
	say_subset(&resp->rej);
	say_subset(&resp->pend);
	return true;
}

static bool show_upd(const void *value)
{
	const xchar_upd *upd = value;
	bool well_formed;

	say_number(XCHAR_UPD);
	well_formed = say_value(&upd->now);
	say_number((u_int)upd->pendclr);
	return well_formed;
}

const struct rpcgen_type rpcgen_xchar_types[] = {
	{"init", (xdrproc_t)xdr_xchar_init, sizeof(xchar_init), show_init},
	{"req", (xdrproc_t)xdr_xchar_req, sizeof(xchar_req), show_req},
	{"resp", (xdrproc_t)xdr_xchar_resp, sizeof(xchar_resp), show_resp},
	{"upd", (xdrproc_t)xdr_xchar_upd, sizeof(xchar_upd), show_upd},
	{NULL, NULL, 0, NULL},
};
