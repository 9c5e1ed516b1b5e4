/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of configuration keys, for the reader, its error texts and the check of the manual. */
#ifndef DAEMON_CONFIG_CONFIG_KEYS_H
#define DAEMON_CONFIG_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_key_type {
	CONFIG_KEY_BOOL,     /* bool */
	CONFIG_KEY_NUMBER,   /* uint32_t */
	CONFIG_KEY_CHOICE,   /* an enum of the size of int, from `choices` */
	CONFIG_KEY_NAME,     /* char *: letters, digits, '.', '_', '-' */
	CONFIG_KEY_PATH,     /* char *: absolute, fits a socket address */
	CONFIG_KEY_FOLDER,   /* char *: absolute; NULL: none */
	CONFIG_KEY_FILE,     /* char *: absolute; NULL: none */
	CONFIG_KEY_ADDRESS,  /* struct sockaddr_storage: literal and port; AF_UNSPEC: none */
	CONFIG_KEY_PREFIXES, /* struct config_cidrs */
	CONFIG_KEY_HOSTS,    /* struct config_hosts */
	CONFIG_KEY_PEERS,    /* struct config_hosts: names in certificates, fingerprints */
	CONFIG_KEY_PEER,     /* char *: a name or an IP address in a certificate; NULL: none */
	CONFIG_KEY_LISTEN,   /* struct service_config's listen, more_listen and nmore_listen */
	CONFIG_KEY_CONNECT,  /* struct service_config's connect, more_servers, nmore_servers */
	CONFIG_KEY_MOUNT,    /* struct config_mount */
	CONFIG_KEY_REGISTER, /* enum config_register, whose words are `choices` */
	CONFIG_KEY_SOURCES,  /* struct service_config's sources and nsources */
	CONFIG_KEY_AUTO,     /* struct service_config's max_connections and auto_connections */
	CONFIG_KEY_ALLOW,    /* struct service_config's allow, nallow and has_allow */
	CONFIG_KEY_DEFAULTS, /* no type: a group of keys of services */
	CONFIG_KEY_SERVICES, /* struct config's services and nservices */
};

/* The services to which a key applies. */
enum config_key_scope {
	CONFIG_SCOPE_ALWAYS,
	CONFIG_SCOPE_ANY_TCP,        /* a listener or connect is tcp:// */
	CONFIG_SCOPE_ANY_RDMA,       /* a side is not tcp:// */
	CONFIG_SCOPE_ANY_IWARP,      /* a side is rdma:// or iwarp:// */
	CONFIG_SCOPE_ANY_VERBS,      /* a side is rdma:// or verbs:// */
	CONFIG_SCOPE_LISTEN_TCP,     /* a listener is tcp:// */
	CONFIG_SCOPE_LISTEN_RDMA,    /* a listener is not tcp:// */
	CONFIG_SCOPE_LISTEN_IWARP,   /* a listener is rdma:// or iwarp:// */
	CONFIG_SCOPE_LISTEN_SOCKET,  /* every listener is tcp:// or iwarp:// */
	CONFIG_SCOPE_CONNECT_SOCKET, /* connect is tcp:// or iwarp:// */
	CONFIG_SCOPE_CONNECT_TCP,    /* connect is tcp://, or MOUNT has a separate server */
	CONFIG_SCOPE_SERVER_TCP,     /* connect is tcp:// */
	CONFIG_SCOPE_CONNECT_RDMA,   /* connect is not tcp:// */
};

/* Where the default of a key comes from. */
enum config_preset_rule {
	CONFIG_PRESET_VALUE,      /* config_key.value */
	CONFIG_PRESET_CORES,      /* the processors that this process can use */
	CONFIG_PRESET_PRIVILEGED, /* true for a TCP listener whose server is not TCP */
	CONFIG_PRESET_OF_FILE,    /* the key of the same name outside the services */
};

struct config_key {
	const char *name;
	enum config_key_type type;
	size_t offset; /* of the value in its struct */
	bool mandatory;
	bool fixed;         /* needs a restart; numbers, bools and paths only */
	const char *preset; /* default, as in the manual; NULL: none */
	uint32_t value;     /* default of a number, bool or choice, unless `rule` says */
	enum config_preset_rule rule;
	uint32_t min, max, multiple; /* of a number, also of CONFIG_KEY_AUTO */
	const char *unit;            /* "bytes", "s", "MiB" or NULL */
	const char *const *choices;  /* NULL-terminated, in the order of the enum */
	enum config_key_scope scope;
};

/* The last entry has the name NULL. */
extern const struct config_key config_keys[];
extern const struct config_key config_service_keys[];

/** config_key_find - Returns the key of that name in a table, or NULL. */
const struct config_key *config_key_find(const struct config_key *keys, const char *name);
/**
 * config_key_foreign - Returns the name of our key for which other proxies have @name, or NULL.
 *
 * The key can be in either table.
 */
const char *config_key_foreign(const char *name);
/**
 * config_key_nearest - Returns the key that other proxies call @name, or whose name is nearest to it,
 * or NULL if none is near.
 */
const struct config_key *config_key_nearest(const struct config_key *keys, const char *name);
/** config_scope_text - Returns the scope as a phrase: "is for services that listen on tcp://" … */
const char *config_scope_text(enum config_key_scope scope);

#endif
