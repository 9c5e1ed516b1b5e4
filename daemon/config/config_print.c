// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_preset.h"
#include "daemon/config/config_services.h"
#include "daemon/config/config_value.h"

static void print_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* Prints a URI as in the file; the host of a listener can be empty. */
static void print_uri(const struct config_uri *uri, FILE *out)
{
	bool is_v6 = strchr(uri->host, ':');

	fprintf(out, "\"%s://%s%s%s:%s\"", transport_name(uri->transport), is_v6 ? "[" : "",
		uri->host, is_v6 ? "]" : "", uri->port);
}

/* Prints one URI without brackets, several as an array. */
static void print_uris(const struct service_config *service, unsigned n,
		       const struct config_uri *(*at)(const struct service_config *service,
						      unsigned i),
		       FILE *out)
{
	for (unsigned i = 0; i < n; i++) {
		fputs(n == 1 ? "" : i ? ", " : "[ ", out);
		print_uri(at(service, i), out);
	}
	fputs(n == 1 ? "" : " ]", out);
}

static void print_cidrs(const struct config_cidr *list, size_t count, FILE *out)
{
	char text[CONFIG_CIDR_TEXT_BYTES];

	fputs("[", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : " ", config_cidr_text(&list[i], text));
	fputs(" ]", out);
}

static void print_prefixes(const struct config_cidrs *cidrs, FILE *out)
{
	print_cidrs(cidrs->list, cidrs->count, out);
}

static void print_hosts(const struct config_hosts *hosts, FILE *out)
{
	fputs("[", out);
	for (size_t i = 0; i < hosts->count; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : " ", hosts->names[i]);
	fputs(" ]", out);
}

static void print_address(const struct sockaddr_storage *addr, FILE *out)
{
	char text[ADDRESS_TEXT_BYTES];

	fprintf(out, "\"%s\"", address_text((const struct sockaddr *)addr, text));
}

static void print_sources(const struct service_config *service, FILE *out)
{
	char text[ADDRESS_TEXT_BYTES];

	fputs("[", out);
	for (size_t i = 0; i < service->nsources; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : " ",
			address_host_text((const struct sockaddr *)&service->sources[i], text));
	fputs(" ]", out);
}

/* Prints a value that takes several members of a service. */
static void print_service_value(const struct config_key *key, const struct service_config *service,
				FILE *out)
{
	switch (key->type) {
	case CONFIG_KEY_LISTEN:
		print_uris(service, config_nlisteners(service), config_listener, out);
		break;
	case CONFIG_KEY_CONNECT:
		print_uris(service, config_nservers(service), config_server, out);
		break;
	case CONFIG_KEY_SOURCES:
		print_sources(service, out);
		break;
	case CONFIG_KEY_AUTO:
		if (service->auto_connections)
			fputs("\"auto\"", out);
		else
			fprintf(out, "%" PRIu32, service->max_connections);
		break;
	case CONFIG_KEY_ALLOW:
		print_cidrs(service->allow, service->nallow, out);
		break;
	default:
		break; /* groups and directories: their effect is in the services */
	}
}

/* Prints the true and false of `register` without quotes. */
static void print_choice(const struct config_key *key, int value, FILE *out)
{
	if (key->type == CONFIG_KEY_REGISTER && value != REGISTER_MOUNT)
		fputs(key->choices[value], out);
	else
		print_string(key->choices[value], out);
}

void config_print_value(const struct config_key *key, const void *base, FILE *out)
{
	const void *value = (const char *)base + key->offset;
	char text[CONFIG_URI_TEXT_BYTES];

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		fputs(*(const bool *)value ? "true" : "false", out);
		break;
	case CONFIG_KEY_NUMBER:
		fprintf(out, "%" PRIu32, *(const uint32_t *)value);
		break;
	case CONFIG_KEY_CHOICE:
	case CONFIG_KEY_REGISTER:
		print_choice(key, *(const int *)value, out);
		break;
	case CONFIG_KEY_NAME:
	case CONFIG_KEY_PATH:
	case CONFIG_KEY_FILE:
	case CONFIG_KEY_PEER:
		print_string(*(char *const *)value ? *(char *const *)value : "", out);
		break;
	case CONFIG_KEY_ADDRESS:
		print_address(value, out);
		break;
	case CONFIG_KEY_PREFIXES:
		print_prefixes(value, out);
		break;
	case CONFIG_KEY_HOSTS:
	case CONFIG_KEY_PEERS:
		print_hosts(value, out);
		break;
	case CONFIG_KEY_MOUNT:
		print_string(config_mount_text(value, text), out);
		break;
	default:
		print_service_value(key, base, out);
	}
}

static bool is_preset_prefixes(const struct config_cidrs *cidrs, const char *preset)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool same;

	if (!out)
		return false;
	print_prefixes(cidrs, out);
	same = !fclose(out) && !strcmp(text, preset);
	free(text);
	return same;
}

/* Returns whether the value is the default. */
static bool is_preset(const struct config_key *key, const void *base)
{
	const void *value = (const char *)base + key->offset;

	if (!key->preset)
		return false;
	switch (key->type) {
	case CONFIG_KEY_BOOL:
		return *(const bool *)value == (bool)config_preset(key, base);
	case CONFIG_KEY_NUMBER:
		return *(const uint32_t *)value == config_preset(key, base);
	case CONFIG_KEY_CHOICE:
	case CONFIG_KEY_REGISTER:
		return *(const int *)value == (int)config_preset(key, base);
	case CONFIG_KEY_MOUNT:
		return ((const struct config_mount *)value)->way == (enum mount_mode)key->value;
	case CONFIG_KEY_PATH:
		return !strcmp(*(char *const *)value, key->preset);
	case CONFIG_KEY_PREFIXES:
		return is_preset_prefixes(value, key->preset);
	case CONFIG_KEY_AUTO:
		return ((const struct service_config *)base)->auto_connections;
	case CONFIG_KEY_HOSTS:
	case CONFIG_KEY_PEERS:
		return !((const struct config_hosts *)value)->count;
	default:
		return false;
	}
}

/* Prints a key with a comment: whether the value is the default, and @note; "": none. */
static void print_key(const struct config_key *key, const void *base, const char *indent,
		      const char *note, FILE *out)
{
	bool preset = is_preset(key, base);

	fprintf(out, "%s%s = ", indent, key->name);
	config_print_value(key, base, out);
	fprintf(out, ";%s%s%s%s\n", preset || *note ? " # " : "", preset ? "the default" : "",
		preset && *note ? "; " : "", note);
}

#define NOTE_BYTES CONFIG_LIMIT_TEXT_BYTES

/* Writes what differs from the value of a key outside the services. Returns @note; "": nothing. */
static const char *config_note(const struct config_key *key, const struct config *config,
			       char note[static NOTE_BYTES])
{
	*note = '\0';
	if (key->offset == offsetof(struct config, io_flusher) && config->io_flusher_denied)
		snprintf(note, NOTE_BYTES, "off: CAP_SYS_RESOURCE is missing");
	if (key->offset == offsetof(struct config, log_level) && config->log_level != log_level())
		snprintf(note, NOTE_BYTES, "now \"%s\" (log, or -v)", log_level_name(log_level()));
	return note;
}

/* The same for a key of a service. */
static const char *service_note(const struct config_key *key, const struct service_config *service,
				char note[static NOTE_BYTES])
{
	*note = '\0';
	if (key->offset == offsetof(struct service_config, max_message_bytes) &&
	    service->message_bytes < service->max_message_bytes)
		snprintf(note, NOTE_BYTES, "%" PRIu32 " fit into memory_limit_mib",
			 service->message_bytes);
	if (key->type == CONFIG_KEY_AUTO)
		config_limit_text(service, note);
	return note;
}

/* Returns false for keys that are not set and have no default, and for keys that do not apply. */
static bool has_value(const struct config_key *key, const struct service_config *service)
{
	if (key->type == CONFIG_KEY_ALLOW)
		return service->has_allow;
	if (key->type == CONFIG_KEY_SOURCES && !service->nsources)
		return false;
	if ((key->type == CONFIG_KEY_FILE || key->type == CONFIG_KEY_PEER) &&
	    !*(char *const *)((const char *)service + key->offset))
		return false;
	return config_in_scope(service, key->scope);
}

/*
 * Returns false for groups, for include_dir, whose services are printed, and for an address that is
 * not set.
 */
static bool is_printed(const struct config_key *key, const struct config *config)
{
	if (key->type == CONFIG_KEY_ADDRESS)
		return ((const struct sockaddr *)((const char *)config + key->offset))->sa_family !=
		       AF_UNSPEC;
	return key->type != CONFIG_KEY_SERVICES && key->type != CONFIG_KEY_DEFAULTS &&
	       key->type != CONFIG_KEY_FOLDER;
}

void config_print_globals(const struct config *config, FILE *out)
{
	char note[NOTE_BYTES];

	for (const struct config_key *key = config_keys; key->name; key++)
		if (is_printed(key, config))
			print_key(key, config, "", config_note(key, config, note), out);
}

void config_print_service(const struct service_config *service, FILE *out)
{
	char note[NOTE_BYTES];

	fputs("  {\n", out);
	for (const struct config_key *key = config_service_keys; key->name; key++)
		if (has_value(key, service))
			print_key(key, service, "    ", service_note(key, service, note), out);
	fputs("  }", out);
}

void config_print(const struct config *config, FILE *out)
{
	config_print_globals(config, out);
	fputs("services = (", out);
	for (size_t i = 0; i < config->nservices; i++) {
		fputs(i ? ",\n" : "\n", out);
		config_print_service(&config->services[i], out);
	}
	fputs("\n);\n", out);
}
