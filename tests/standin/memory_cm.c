// SPDX-License-Identifier: BSD-3-Clause
/*
 * The connection manager of the device in memory.
 *
 * A connection has two ids, which are each other's peer from the request on. Each side's parameters
 * are in its conn. Private data is padded to the size of an InfiniBand message. Over iWARP the
 * manager owns the queue pairs and moves them through their states; otherwise it only connects
 * them, by the numbers that both sides send. The kernel destroys the id of a removed device itself,
 * so calls on it fail with ENXIO; an id that requests a connection and is not accepted yet gets no
 * event.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/standin/memory.h"

#define REQ_PRIVATE    56u /* bytes of private data in messages of InfiniBand */
#define REP_PRIVATE    196u
#define REJ_PRIVATE    148u
#define REJ_NO_SERVICE 8
#define REJ_CONSUMER   28
#define FIRST_PORT     40000u

struct cm_event {
	struct rdma_cm_event event;
	TAILQ_ENTRY(cm_event) entry;
	uint8_t private_data[256];
};

struct cm_channel {
	struct rdma_event_channel channel;
	TAILQ_HEAD(, cm_event) events;
};

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_LISTENING,
	CM_REQUESTING,
	CM_REQUESTED,
	CM_ACCEPTED,
	CM_UP,
	CM_OVER
};

struct cm_id {
	struct rdma_cm_id id;
	LIST_ENTRY(cm_id) entry;
	enum cm_state state;
	struct cm_id *peer;
	/* Parameters of its connect or accept; the pointers in it must not be used. */
	struct rdma_conn_param conn;
	struct ibv_ece ece, peers_ece; /* enhanced connection establishment of each end */
	unsigned events;               /* unacknowledged */
	bool reuse;
	bool removed; /* removed with its device */
};

static LIST_HEAD(, cm_id) ids = LIST_HEAD_INITIALIZER(ids);
static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;
static uint16_t next_port = FIRST_PORT;

static struct cm_id *id_of(struct rdma_cm_id *id)
{
	return CONTAINER(id, struct cm_id, id);
}

static struct cm_channel *channel_of(struct rdma_event_channel *channel)
{
	return CONTAINER(channel, struct cm_channel, channel);
}

static int failing(int err)
{
	pthread_mutex_unlock(&memory_lock);
	errno = err;
	return err ? -1 : 0;
}

/* With two devices, the second has the addresses 127.0.1.0 to 127.0.1.255. */
static struct memory_device *device_of(const struct sockaddr *addr)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	struct memory_device *second = memory_device_at(1);

	if (!second || addr->sa_family != AF_INET || ntohl(in->sin_addr.s_addr) >> 8 != 0x7f0001)
		return memory_device_at(0);
	return second;
}

/* Opens a device when an id first needs it, as librdmacm does. Returns NULL if there is none. */
static struct ibv_context *open_device(const struct sockaddr *addr)
{
	struct memory_device *device = device_of(addr);

	if (!device->context)
		return NULL;
	if (!device->context->opened) {
		device->context->opened = true;
		ibv_free_device_list(ibv_get_device_list(NULL));
		if (!ibv_open_device(&device->device))
			device->context->opened = false;
	}
	return device->context->opened ? &device->context->context : NULL;
}

/* ---- events ---- */

static struct cm_event *event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *event = calloc(1, sizeof(*event));

	event->event.id = &id->id;
	event->event.event = type;
	event->event.status = status;
	return event;
}

static void push(struct cm_id *id, struct cm_event *event)
{
	struct cm_channel *channel = channel_of(id->id.channel);

	TAILQ_INSERT_TAIL(&channel->events, event, entry);
	id->events++;
	(void)eventfd_write(channel->channel.fd, 1);
}

static void tell(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	push(id, event_new(id, type, status));
}

static void add_private(struct cm_event *event, const void *data, uint8_t len, unsigned padded)
{
	if (memory_is_iwarp())
		padded = len;
	if (len > padded)
		len = (uint8_t)padded;
	if (len)
		memcpy(event->private_data, data, len);
	event->event.param.conn.private_data = padded ? event->private_data : NULL;
	event->event.param.conn.private_data_len = (uint8_t)padded;
}

/*
 * Stores the parameters of @from as its peer receives them: each end's initiator depth is the
 * other's responder resources.
 */
static void add_conn(struct cm_event *event, const struct rdma_conn_param *from, unsigned padded)
{
	event->event.param.conn.responder_resources = from->initiator_depth;
	event->event.param.conn.initiator_depth = from->responder_resources;
	event->event.param.conn.rnr_retry_count = from->rnr_retry_count;
	event->event.param.conn.qp_num = from->qp_num;
	add_private(event, from->private_data, from->private_data_len, padded);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_channel *channel = calloc(1, sizeof(*channel));

	channel->channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	TAILQ_INIT(&channel->events);
	pthread_mutex_lock(&memory_lock);
	memory_left.event_channels++;
	pthread_mutex_unlock(&memory_lock);
	return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	pthread_mutex_lock(&memory_lock);
	memory_left.event_channels--;
	pthread_mutex_unlock(&memory_lock);
	close(channel->fd);
	free(channel_of(channel));
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
	struct cm_event *event;
	eventfd_t one;

	if (eventfd_read(channel->fd, &one))
		return -1;
	pthread_mutex_lock(&memory_lock);
	event = TAILQ_FIRST(&channel_of(channel)->events);
	if (!event)
		return failing(EAGAIN);
	TAILQ_REMOVE(&channel_of(channel)->events, event, entry);
	pthread_mutex_unlock(&memory_lock);
	*out = &event->event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *ievent)
{
	struct cm_event *event = CONTAINER(ievent, struct cm_event, event);
	struct rdma_cm_id *of = ievent->listen_id ? ievent->listen_id : ievent->id;

	pthread_mutex_lock(&memory_lock);
	id_of(of)->events--;
	pthread_cond_broadcast(&acknowledged);
	pthread_mutex_unlock(&memory_lock);
	free(event);
	return 0;
}

/* ---- ids ---- */

static struct cm_id *id_new(struct rdma_event_channel *channel, void *context)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = RDMA_PS_TCP;
	LIST_INSERT_HEAD(&ids, id, entry);
	memory_left.ids++;
	return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	pthread_mutex_lock(&memory_lock);
	*id = &id_new(channel, context)->id;
	return failing(0);
}

/* Drops unread events of the id. */
static void drop_events(struct cm_id *id)
{
	struct cm_channel *channel = channel_of(id->id.channel);
	struct cm_event *event, *next;
	eventfd_t one;

	for (event = TAILQ_FIRST(&channel->events); event; event = next) {
		next = TAILQ_NEXT(event, entry);
		if (event->event.id != &id->id && event->event.listen_id != &id->id)
			continue;
		TAILQ_REMOVE(&channel->events, event, entry);
		(void)eventfd_read(channel->channel.fd, &one);
		id->events--;
		free(event);
	}
}

static int no_service(void)
{
	return memory_is_iwarp() ? -ECONNREFUSED : REJ_NO_SERVICE;
}

/* Notifies the peer of the id's end. */
static void part(struct cm_id *id)
{
	struct cm_id *peer = id->peer;

	id->peer = NULL;
	if (!peer)
		return;
	peer->peer = NULL;
	if (peer->state == CM_UP || peer->state == CM_ACCEPTED)
		tell(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
	else if (peer->state == CM_REQUESTING)
		tell(peer, RDMA_CM_EVENT_REJECTED, no_service());
	peer->state = CM_OVER;
	if (memory_is_iwarp() && peer->id.qp)
		memory_qp_set(CONTAINER(peer->id.qp, struct memory_qp, qp), IBV_QPS_ERR);
}

int rdma_destroy_id(struct rdma_cm_id *iid)
{
	struct cm_id *id = id_of(iid);

	pthread_mutex_lock(&memory_lock);
	if (iid->qp)
		memory_misuse("an id is destroyed that has a queue pair");
	part(id);
	drop_events(id);
	while (id->events)
		pthread_cond_wait(&acknowledged, &memory_lock);
	LIST_REMOVE(id, entry);
	memory_left.ids--;
	pthread_mutex_unlock(&memory_lock);
	free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *iid, struct rdma_event_channel *channel)
{
	struct cm_channel *from = channel_of(iid->channel), *to = channel_of(channel);
	struct cm_event *event, *next;
	eventfd_t one;

	pthread_mutex_lock(&memory_lock);
	if (id_of(iid)->removed)
		return failing(ENXIO);
	for (event = TAILQ_FIRST(&from->events); event; event = next) {
		next = TAILQ_NEXT(event, entry);
		if (event->event.id != iid || event->event.listen_id)
			continue;
		TAILQ_REMOVE(&from->events, event, entry);
		(void)eventfd_read(from->channel.fd, &one);
		TAILQ_INSERT_TAIL(&to->events, event, entry);
		(void)eventfd_write(to->channel.fd, 1);
	}
	iid->channel = channel;
	return failing(0);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	if (level == RDMA_OPTION_ID && name == RDMA_OPTION_ID_REUSEADDR)
		id_of(id)->reuse = *(int *)value;
	return 0;
}

/* ---- addresses ---- */

static uint16_t *port_of(struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ? &((struct sockaddr_in6 *)addr)->sin6_port
					   : &((struct sockaddr_in *)addr)->sin_port;
}

static size_t bytes_of(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in);
}

static bool is_any(const struct sockaddr *addr)
{
	static const struct in6_addr any = IN6ADDR_ANY_INIT;

	if (addr->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)addr)->sin6_addr, &any, sizeof(any));
	return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
}

static bool same_host(const struct sockaddr *one, const struct sockaddr *other)
{
	if (one->sa_family != other->sa_family)
		return false;
	if (one->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)one)->sin6_addr,
			       &((const struct sockaddr_in6 *)other)->sin6_addr, 16);
	return ((const struct sockaddr_in *)one)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)other)->sin_addr.s_addr;
}

static bool overlaps(const struct sockaddr *one, const struct sockaddr *other)
{
	return is_any(one) || is_any(other) || same_host(one, other);
}

static struct sockaddr *source_of(struct cm_id *id)
{
	return &id->id.route.addr.src_addr;
}

/* The id of an accepted connection does not reserve its port. */
static bool is_taken(struct cm_id *but, struct sockaddr *addr)
{
	struct cm_id *id;

	LIST_FOREACH(id, &ids, entry) {
		struct sockaddr *its = source_of(id);

		if (id == but || id->state == CM_IDLE || id->state == CM_REQUESTED ||
		    *port_of(its) != *port_of(addr) || !overlaps(its, addr))
			continue;
		if (id->state == CM_LISTENING || !id->reuse || !but->reuse)
			return true;
	}
	return false;
}

/* Returns true if it is an address of this host: a socket can be bound to it. */
static bool is_ours(const struct sockaddr *addr)
{
	struct sockaddr_storage probe = {0};
	int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ours;

	memcpy(&probe, addr, bytes_of(addr));
	*port_of((struct sockaddr *)&probe) = 0;
	ours = fd >= 0 && !bind(fd, (struct sockaddr *)&probe, (socklen_t)bytes_of(addr));
	if (fd >= 0)
		close(fd);
	return ours;
}

static int bind_to(struct cm_id *id, const struct sockaddr *addr)
{
	struct sockaddr *its = source_of(id);

	if (!is_ours(addr))
		return EADDRNOTAVAIL;
	if (!is_any(addr) && !open_device(addr))
		return ENODEV;
	memcpy(its, addr, bytes_of(addr));
	if (!*port_of(its)) {
		do {
			*port_of(its) = htons(next_port++);
		} while (is_taken(id, its));
	} else if (is_taken(id, its)) {
		return EADDRINUSE;
	}
	id->state = CM_BOUND;
	id->id.verbs = is_any(its) ? NULL : open_device(its);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	pthread_mutex_lock(&memory_lock);
	return failing(bind_to(id_of(id), addr));
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	pthread_mutex_lock(&memory_lock);
	if (id_of(id)->removed)
		return failing(ENXIO);
	id_of(id)->state = CM_LISTENING;
	return failing(0);
}

/* Sets the address to that of @from, and keeps the port. */
static void take_host(struct sockaddr *addr, const struct sockaddr *from)
{
	uint16_t port = *port_of(addr);

	memcpy(addr, from, bytes_of(from));
	*port_of(addr) = port;
}

int rdma_resolve_addr(struct rdma_cm_id *iid, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	struct cm_id *id = id_of(iid);
	struct sockaddr_storage source = {0};
	int err = 0;

	pthread_mutex_lock(&memory_lock);
	memcpy(&iid->route.addr.dst_addr, to, bytes_of(to));
	if (id->state == CM_IDLE) {
		memcpy(&source, from ? from : to, bytes_of(from ? from : to));
		if (!from)
			*port_of((struct sockaddr *)&source) = 0;
		err = bind_to(id, (struct sockaddr *)&source);
	}
	if (!err && is_any(source_of(id)))
		take_host(source_of(id), to);
	if (!err && !iid->verbs)
		iid->verbs = open_device(source_of(id));
	if (!err && !iid->verbs)
		err = ENODEV;
	if (!err) {
		iid->port_num = 1;
		tell(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	} else if (err == ENODEV && !from) {
		tell(id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
		err = 0;
	}
	return failing(err);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	pthread_mutex_lock(&memory_lock);
	if (id_of(id)->removed)
		return failing(ENXIO);
	tell(id_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return failing(0);
}

/* ---- enhanced connection establishment ---- */

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	pthread_mutex_lock(&memory_lock);
	id_of(id)->ece = *ece;
	return failing(0);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	pthread_mutex_lock(&memory_lock);
	*ece = id_of(id)->peers_ece;
	return failing(0);
}

/* ---- connections ---- */

/* Searches by device and port only: a daemon never connects to itself. */
static struct cm_id *find_listener(struct sockaddr *addr)
{
	struct cm_id *id;

	LIST_FOREACH(id, &ids, entry)
		if (id->state == CM_LISTENING && *port_of(source_of(id)) == *port_of(addr) &&
		    (!id->id.verbs || device_of(source_of(id)) == device_of(addr)))
			return id;
	return NULL;
}

int rdma_connect(struct rdma_cm_id *iid, struct rdma_conn_param *param)
{
	struct cm_id *id = id_of(iid), *listener, *asked;
	struct cm_event *event;

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	id->conn = *param;
	id->state = CM_REQUESTING;
	listener = find_listener(&iid->route.addr.dst_addr);
	if (!listener) {
		tell(id, RDMA_CM_EVENT_REJECTED, no_service());
		return failing(0);
	}
	asked = id_new(listener->id.channel, listener->id.context);
	asked->state = CM_REQUESTED;
	asked->peer = id;
	asked->peers_ece = id->ece;
	id->peer = asked;
	asked->id.verbs = iid->verbs;
	asked->id.port_num = 1;
	memcpy(source_of(asked), &iid->route.addr.dst_addr, sizeof(iid->route.addr.dst_storage));
	memcpy(&asked->id.route.addr.dst_addr, source_of(id), sizeof(iid->route.addr.src_storage));
	event = event_new(asked, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	event->event.listen_id = &listener->id;
	add_conn(event, &id->conn, REQ_PRIVATE);
	push(listener, event);
	return failing(0);
}

static void join_pairs(struct cm_id *one, struct cm_id *other)
{
	struct memory_qp *a = memory_qp_find(one->id.qp ? one->id.qp->qp_num : one->conn.qp_num);
	struct memory_qp *b =
		memory_qp_find(other->id.qp ? other->id.qp->qp_num : other->conn.qp_num);

	if (a && b)
		memory_qp_join(a, b);
	if (!memory_is_iwarp() || !a || !b)
		return;
	memory_qp_set(a, IBV_QPS_RTS);
	memory_qp_set(b, IBV_QPS_RTS);
}

int rdma_accept(struct rdma_cm_id *iid, struct rdma_conn_param *param)
{
	struct cm_id *id = id_of(iid), *peer;
	struct cm_event *event;

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	peer = id->peer;
	if (!peer || id->state != CM_REQUESTED)
		return failing(EINVAL);
	id->conn = *param;
	id->state = CM_ACCEPTED;
	peer->peers_ece = id->ece;
	join_pairs(id, peer);
	event = event_new(peer,
			  memory_is_iwarp() || peer->id.qp ? RDMA_CM_EVENT_ESTABLISHED
							   : RDMA_CM_EVENT_CONNECT_RESPONSE,
			  0);
	add_conn(event, &id->conn, REP_PRIVATE);
	push(peer, event);
	if (memory_is_iwarp()) {
		peer->state = id->state = CM_UP;
		tell(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
	return failing(0);
}

int rdma_establish(struct rdma_cm_id *iid)
{
	struct cm_id *id = id_of(iid);

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	if (!id->peer || (id->peer->state != CM_ACCEPTED && id->peer->state != CM_UP))
		return failing(EINVAL);
	id->state = CM_UP;
	if (id->peer->state == CM_ACCEPTED)
		tell(id->peer, RDMA_CM_EVENT_ESTABLISHED, 0);
	id->peer->state = CM_UP;
	return failing(0);
}

/* The queue pair has received data before the connection manager's event. */
int rdma_notify(struct rdma_cm_id *iid, enum ibv_event_type event)
{
	struct cm_id *id = id_of(iid);

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	if (event != IBV_EVENT_COMM_EST || id->state != CM_ACCEPTED)
		return failing(EINVAL);
	id->state = CM_UP;
	tell(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	return failing(0);
}

int rdma_reject(struct rdma_cm_id *iid, const void *data, uint8_t len)
{
	struct cm_id *id = id_of(iid), *peer;
	struct cm_event *event;

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	peer = id->peer;
	id->peer = NULL;
	id->state = CM_OVER;
	if (peer) {
		peer->peer = NULL;
		peer->state = CM_OVER;
		event = event_new(peer, RDMA_CM_EVENT_REJECTED,
				  memory_is_iwarp() ? -ECONNREFUSED : REJ_CONSUMER);
		add_private(event, data, len, REJ_PRIVATE);
		push(peer, event);
	}
	return failing(0);
}

static void disconnected(struct cm_id *id)
{
	if (id->state == CM_OVER)
		return;
	id->state = CM_OVER;
	tell(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (memory_is_iwarp() && id->id.qp)
		memory_qp_set(CONTAINER(id->id.qp, struct memory_qp, qp), IBV_QPS_ERR);
}

static bool is_up(const struct cm_id *id)
{
	return id->state == CM_UP || id->state == CM_ACCEPTED ||
	       (id->state == CM_REQUESTING && id->peer && id->peer->state == CM_ACCEPTED);
}

int rdma_disconnect(struct rdma_cm_id *iid)
{
	struct cm_id *id = id_of(iid), *peer;

	pthread_mutex_lock(&memory_lock);
	if (id->removed)
		return failing(ENXIO);
	if (!is_up(id))
		return failing(EINVAL);
	peer = id->peer;
	if (iid->qp)
		memory_qp_set(CONTAINER(iid->qp, struct memory_qp, qp), IBV_QPS_ERR);
	disconnected(id);
	if (peer)
		disconnected(peer);
	return failing(0);
}

void memory_cm_qp_failed(struct rdma_cm_id *iid)
{
	struct cm_id *id = id_of(iid), *peer = id->peer;

	if (id->state != CM_UP)
		return;
	disconnected(id);
	if (peer)
		disconnected(peer);
}

/* ---- devices that are removed ---- */

/* The kernel notifies ids with an owner: an id that waits to be accepted has none yet. */
void memory_cm_removed(const struct ibv_context *context)
{
	struct cm_id *id;

	LIST_FOREACH(id, &ids, entry) {
		if (id->id.verbs != context || id->removed)
			continue;
		if (id->state != CM_REQUESTED)
			tell(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
		id->removed = true;
		id->state = CM_OVER;
	}
	if (!memory_is_iwarp())
		return;
	LIST_FOREACH(id, &ids, entry)
		if (id->id.verbs == context && id->id.qp)
			memory_qp_set(CONTAINER(id->id.qp, struct memory_qp, qp), IBV_QPS_ERR);
}

/* ---- queue pairs over iWARP ---- */

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	id->qp = ibv_create_qp(pd, attr);
	if (!id->qp)
		return -1;
	pthread_mutex_lock(&memory_lock);
	if (memory_is_iwarp())
		CONTAINER(id->qp, struct memory_qp, qp)->id = id;
	memory_qp_set(CONTAINER(id->qp, struct memory_qp, qp), IBV_QPS_INIT);
	return failing(0);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct ibv_qp *qp = id->qp;

	pthread_mutex_lock(&memory_lock);
	id->qp = NULL;
	CONTAINER(qp, struct memory_qp, qp)->id = NULL;
	pthread_mutex_unlock(&memory_lock);
	ibv_destroy_qp(qp);
}

int rdma_init_qp_attr(struct rdma_cm_id *iid, struct ibv_qp_attr *attr, int *mask)
{
	struct cm_id *id = id_of(iid);
	const struct rdma_conn_param *own = &id->conn, *other = id->peer ? &id->peer->conn : own;

	if (id->removed) {
		errno = ENXIO;
		return -1;
	}
	*mask = IBV_QP_STATE;
	attr->max_dest_rd_atomic = own->responder_resources;
	attr->max_rd_atomic = own->initiator_depth;
	attr->rnr_retry = other->rnr_retry_count;
	if (attr->qp_state == IBV_QPS_RTR)
		*mask |= IBV_QP_MAX_DEST_RD_ATOMIC;
	if (attr->qp_state == IBV_QPS_RTS)
		*mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RNR_RETRY;
	return 0;
}
