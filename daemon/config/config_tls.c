// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config/config_value.h"

/* ---- keys that need others ---- */

static const config_setting_t *own(const config_setting_t *group, const char *name)
{
	return config_setting_get_member(group, name);
}

/* Returns the setting, or the group if the value is a default. */
static const config_setting_t *at(const config_setting_t *group, const char *name)
{
	return own(group, name) ? own(group, name) : group;
}

static void set_idle(struct config_tls *tls, const config_setting_t *group, const char *key,
		     const char *why)
{
	if (tls->idle_key || !own(group, key))
		return;
	tls->idle_key = key;
	tls->idle_why = why;
}

/* Finds keys of the service itself that do nothing: defaults can be meant for other services. */
static void find_idle(struct config_tls *tls, const config_setting_t *group)
{
	bool accepts = tls->accept != CONFIG_TLS_OFF;

	if (!accepts && !tls->connect) {
		set_idle(tls, group, "tls_cert_file", "tls and tls_connect are \"off\"");
		set_idle(tls, group, "tls_ca_file", "tls and tls_connect are \"off\"");
	} else if (tls->verify_client == TLS_VERIFY_NONE && !tls->connect) {
		set_idle(tls, group, "tls_ca_file",
			 "tls_verify_client is \"none\" and tls_connect is \"off\"");
	}
	if (!accepts && tls->verify_client != TLS_VERIFY_NONE)
		set_idle(tls, group, "tls_verify_client", "tls is \"off\"");
	if (!tls->connect)
		set_idle(tls, group, "tls_server_name", "tls_connect is \"off\"");
}

void config_tls_check(struct config_ctx *r, const config_setting_t *group,
		      struct service_config *service)
{
	struct config_tls *tls = &service->tls;

	if (tls->accept != CONFIG_TLS_OFF && !tls->cert_file)
		config_report(r, at(group, "tls"),
			      "tls is \"%s\", but tls_cert_file is not set: clients need the "
			      "certificate of this service",
			      tls->accept == CONFIG_TLS_ALLOWED ? "allowed" : "required");
	if (tls->key_file && !tls->cert_file)
		config_report(r, at(group, "tls_key_file"), "tls_key_file needs tls_cert_file");
	if (tls->verify_client != TLS_VERIFY_NONE && !tls->ca_file)
		config_report(r, at(group, "tls_verify_client"),
			      "tls_verify_client needs tls_ca_file, the authorities that sign the "
			      "certificates of clients");
	if (tls->client_names.count && tls->verify_client == TLS_VERIFY_NONE)
		config_report(r, at(group, "tls_client_names"),
			      "tls_client_names needs tls_verify_client = \"required\" or "
			      "\"optional\": without it no certificate is demanded");
	find_idle(tls, group);
}

/* ---- files ---- */

struct tls_file {
	const char *key, *path; /* path: NULL: not set */
};

#define TLS_FILES 3u

static void list_files(const struct config_tls *tls, struct tls_file files[TLS_FILES])
{
	files[0] = (struct tls_file){"tls_cert_file", tls->cert_file};
	files[1] = (struct tls_file){"tls_key_file", tls->key_file};
	files[2] = (struct tls_file){"tls_ca_file", tls->ca_file};
}

/* Prints "FILE:LINE: service NAME: text". */
static void PRINTF_LIKE(4, 5) print_line(const struct service_config *service, const char *mark,
					 FILE *out, const char *format, ...)
{
	va_list ap;

	fprintf(out, "%s:%d: %sservice %s: ", service->file, service->line, mark, service->name);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputc('\n', out);
}

/* Returns 0 for a regular file that can be read, or a negative errno. Does not wait for a pipe. */
static int check_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		rc = -errno;
	else if (!S_ISREG(st->st_mode))
		rc = -EISDIR;
	close(fd);
	return rc;
}

static const char *cure_of(int rc)
{
	return rc == -EACCES ? ": the user that runs rpcrdma-proxy must be able to read it" : "";
}

static bool check_files(const struct service_config *service, FILE *errors)
{
	struct tls_file files[TLS_FILES];
	bool good = true;

	list_files(&service->tls, files);
	for (unsigned i = 0; i < TLS_FILES; i++) {
		struct stat st;
		int rc = files[i].path ? check_file(files[i].path, &st) : 0;

		if (!rc)
			continue;
		good = false;
		print_line(service, "", errors, "%s: cannot read %s: %s%s", files[i].key,
			   files[i].path, rc == -EISDIR ? "not a file" : strerror(-rc),
			   cure_of(rc));
	}
	return good;
}

const char *config_tls_host_name(const char *host, char text[static CONFIG_TLS_HOST_BYTES])
{
	snprintf(text, CONFIG_TLS_HOST_BYTES, "%.*s", (int)strcspn(host, "%"), host);
	return text;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns whether two services have the same files and rules. */
static bool same_keys(const struct config_tls *a, const struct config_tls *b)
{
	if (a->accept != b->accept || a->connect != b->connect ||
	    a->verify_client != b->verify_client ||
	    a->client_names.count != b->client_names.count ||
	    !same_text(a->cert_file, b->cert_file) || !same_text(a->key_file, b->key_file) ||
	    !same_text(a->ca_file, b->ca_file) || !same_text(a->server_name, b->server_name))
		return false;
	for (size_t i = 0; i < a->client_names.count; i++)
		if (strcmp(a->client_names.names[i], b->client_names.names[i]) != 0)
			return false;
	return true;
}

/*
 * Gives a service the context of an earlier one with the same keys, so that a thousand services
 * read the authorities once. Returns 0, -ENOENT if there is none, or -ENOMEM.
 */
static int share_context(const struct config *config, struct service_config *service)
{
	struct config_tls *tls = &service->tls;
	char host[CONFIG_TLS_HOST_BYTES];

	for (const struct service_config *other = config->services; other < service; other++) {
		bool same_host = !tls->connect || tls->server_name ||
				 !strcasecmp(other->connect.host, service->connect.host);

		if (!other->tls.context || !same_keys(&other->tls, tls))
			continue;
		if (same_host) {
			tls->context = tls_context_ref(other->tls.context);
			return 0;
		}
		/* For another server a context has the role of the client alone. */
		if (tls->accept == CONFIG_TLS_OFF)
			return tls_context_for_server(
				other->tls.context,
				config_tls_host_name(service->connect.host, host), &tls->context);
	}
	return -ENOENT;
}

static int make_context(struct service_config *service, FILE *errors)
{
	const struct config_tls *tls = &service->tls;
	char error[TLS_ERROR_BYTES] = "", host[CONFIG_TLS_HOST_BYTES];
	const struct tls_context_config config = {
		.accepts = tls->accept != CONFIG_TLS_OFF,
		.connects = tls->connect,
		.cert_file = tls->cert_file,
		.key_file = tls->key_file,
		.ca_file = tls->ca_file,
		.verify_client = tls->verify_client,
		.client_names = (const char *const *)tls->client_names.names,
		.nclient_names = (unsigned)tls->client_names.count,
		.server_name = !tls->connect ? NULL
			       : tls->server_name
				       ? tls->server_name
				       : config_tls_host_name(service->connect.host, host),
	};
	int rc = tls_context_new(&config, &service->tls.context, error);

	if (!rc || rc == -ENOMEM)
		return rc;
	print_line(service, "", errors, "%s", error[0] ? error : strerror(-rc));
	return -ENODEV;
}

int config_tls_load(struct config *config, FILE *errors)
{
	int rc = 0, one;

	for (size_t i = 0; i < config->nservices && rc != -ENOMEM; i++) {
		struct service_config *service = &config->services[i];

		if (!config_tls_is_used(service))
			continue;
		one = share_context(config, service);
		if (one == -ENOENT)
			one = check_files(service, errors) ? make_context(service, errors)
							   : -ENODEV;
		rc = one ? one : rc;
	}
	return rc;
}

void config_tls_forget(struct config *config)
{
	for (size_t i = 0; i < config->nservices; i++) {
		tls_context_put(config->services[i].tls.context);
		config->services[i].tls.context = NULL;
	}
}

/* ---- warnings ---- */

#define A_WARNING "warning: "

/* Returns the key and the path of the file with the private key; path NULL: none. */
static struct tls_file key_file_of(const struct config_tls *tls)
{
	struct tls_file own = {"tls_key_file", tls->key_file};
	struct tls_file both = {"tls_cert_file", tls->cert_file};

	return tls->key_file ? own : both;
}

static void warn_key(const struct service_config *service, FILE *out)
{
	struct tls_file file = key_file_of(&service->tls);
	struct stat st;

	if (file.path && !check_file(file.path, &st) && st.st_mode & S_IROTH)
		print_line(service, A_WARNING, out,
			   "%s: every user of this host can read the key in %s: chmod o-r %s",
			   file.key, file.path, file.path);
}

const char *config_tls_time_text(int64_t time_s, char text[static CONFIG_TLS_TIME_BYTES])
{
	time_t at = (time_t)time_s;
	struct tm tm;

	text[0] = '\0';
	if (at && gmtime_r(&at, &tm))
		strftime(text, CONFIG_TLS_TIME_BYTES, "%Y-%m-%d %H:%M UTC", &tm);
	return text;
}

static void warn_expiry(const struct service_config *service, FILE *out)
{
	int64_t end_s = tls_context_expiry_s(service->tls.context);
	char text[CONFIG_TLS_TIME_BYTES];

	if (!end_s || end_s - time(NULL) > CONFIG_TLS_EXPIRES_S)
		return;
	print_line(service, A_WARNING, out,
		   "tls_cert_file: the certificate in %s expires at %s: renew it, then reload",
		   service->tls.cert_file, config_tls_time_text(end_s, text));
}

void config_tls_warn(const struct service_config *service, FILE *out)
{
	const struct config_tls *tls = &service->tls;

	if (tls->idle_key)
		print_line(service, A_WARNING, out, "%s has no effect: %s", tls->idle_key,
			   tls->idle_why);
	if (tls->accept == CONFIG_TLS_REQUIRED && config_listens_rdma(service))
		print_line(service, A_WARNING, out,
			   "tls = \"required\" does not apply to RDMA clients: they connect "
			   "without encryption");
	if (tls->accept == CONFIG_TLS_ALLOWED && tls->verify_client == TLS_VERIFY_REQUIRED)
		print_line(service, A_WARNING, out,
			   "tls_verify_client = \"required\" does not apply to clients without "
			   "TLS: set tls = \"required\" to refuse them");
	if (!tls->context)
		return;
	warn_key(service, out);
	warn_expiry(service, out);
}

/* A wildcard is the address of no client's mount. */
static bool covers_listener(const struct tls_context *context, const struct config_uri *uri)
{
	if (!uri->host[0] || config_uri_is_any(uri) || tls_context_covers(context, uri->host))
		return true;
	return config_uri_is_loopback(uri) && tls_context_covers(context, "localhost");
}

void config_tls_check_names(const struct service_config *service, FILE *out)
{
	if (service->tls.accept == CONFIG_TLS_OFF || !service->tls.context)
		return;
	for (unsigned i = 0; i < config_nlisteners(service); i++) {
		const struct config_uri *uri = config_listener(service, i);

		if (uri->transport != TRANSPORT_TCP || covers_listener(service->tls.context, uri))
			continue;
		print_line(service, A_WARNING, out,
			   "tls_cert_file: the certificate in %s is not for %s: clients can only "
			   "mount by a name or address that it has, because they check that",
			   service->tls.cert_file, uri->host);
	}
}

/* ---- rights of the daemon's user ---- */

/* Runs in a child process, as @user. Returns 0, or the errno of opening the file. */
static int open_as(const struct passwd *user, const char *path)
{
	int fd;

	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
		return 0; /* unknown: this host does not let us try */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? errno : 0;
}

/* Returns 0, or the errno with which @user cannot open the file. */
static int try_as(const struct passwd *user, const char *path)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		return 0;
	if (!child)
		_exit(open_as(user, path));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* The group of the daemon's user can use rpcrdma-proxyctl, but needs no key. */
static void warn_group(const struct service_config *service, const struct passwd *user, FILE *out)
{
	struct tls_file file = key_file_of(&service->tls);
	struct stat st;

	if (file.path && !check_file(file.path, &st) && st.st_gid == user->pw_gid &&
	    st.st_mode & S_IRGRP)
		print_line(service, A_WARNING, out,
			   "%s: each member of the group of %s, who can use rpcrdma-proxyctl, can "
			   "read the key in %s: chown %s %s; chmod 400 %s",
			   file.key, user->pw_name, file.path, user->pw_name, file.path, file.path);
}

void config_tls_check_user(const struct service_config *service, const char *user, FILE *out)
{
	const struct passwd *passwd = config_tls_is_used(service) ? getpwnam(user) : NULL;
	struct tls_file files[TLS_FILES];

	list_files(&service->tls, files);
	for (unsigned i = 0; passwd && i < TLS_FILES; i++) {
		int err = files[i].path ? try_as(passwd, files[i].path) : 0;

		if (err)
			print_line(service, A_WARNING, out,
				   "%s: user %s, which runs the daemon, cannot read %s (%s): chown "
				   "%s %s, or let others read its directory",
				   files[i].key, user, files[i].path, strerror(err), user,
				   files[i].path);
	}
	if (passwd)
		warn_group(service, passwd, out);
}
