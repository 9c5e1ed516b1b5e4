// SPDX-License-Identifier: BSD-3-Clause
/* rpcrdma-proxy: command line, signals, start and stop of the daemon. */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/memlock.h"
#include "daemon/base/paths.h"
#include "daemon/base/sd_notify.h"
#include "daemon/config/config.h"
#include "daemon/config/config_check.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_tls.h"
#include "daemon/config/transparent_routes.h"
#include "daemon/control/cmd_table.h"
#include "daemon/http/http.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/reload.h"
#include "fabric/verbs/verbs_config.h"

static const char usage[] =
	"usage: rpcrdma-proxy [-c FILE] [-t] [-v] [-V] [-h]\n"
	"Proxy between NFS (ONC RPC) over TCP and over RDMA. Runs in the foreground.\n"
	"  -c FILE  configuration file (" CONFIG_DEFAULT_FILE ")\n"
	"  -t       check the configuration file and exit; -tv also prints its capacity\n"
	"  -v       log at level debug\n"
	"  -V       print the version and exit (--version)\n"
	"  -h       print this help and exit (--help, help)\n"
	"See rpcrdma-proxy(8) and rpcrdma-proxy.conf(5).\n";

static const struct option long_options[] = {
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* See the manual. The unit lists those for which a restart is useless. */
enum status {
	STATUS_FAILED = 1, /* the start failed, or -t found errors */
	STATUS_USAGE = 64,
	STATUS_CONFIG = 78,
};

#define LOG_FLUSH_MS 1000u

struct signals {
	struct loop *loop;
	struct proxy *proxy; /* NULL before the daemon is up */
	struct loop_io *io;
	int fd;
};

/* reload() itself logs the result and notifies systemd. */
static void on_reloaded(void *arg, int rc, const struct reload_report *report)
{
}

static void on_hangup(const struct signals *signals, unsigned uid)
{
	log_info(NULL, "reload requested by SIGHUP from uid %u", uid);
	if (!signals->proxy || signals->proxy->stopping)
		return;
	reload(signals->proxy, on_reloaded, NULL);
}

static void on_signal(void *arg, unsigned events)
{
	const struct signals *signals = arg;
	struct signalfd_siginfo info;

	if (events & LOOP_ERROR) {
		/* Without signals the daemon could not be stopped in order later. */
		log_error(NULL, "cannot receive signals");
		event_loop_stop(signals->loop);
		return;
	}
	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		on_hangup(signals, info.ssi_uid);
		return;
	}
	log_info(NULL, "stop requested by %s from uid %u",
		 info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT", info.ssi_uid);
	if (signals->proxy)
		proxy_drain_and_stop(signals->proxy);
	else
		event_loop_stop(signals->loop);
}

static int open_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Returns the limit after raise_descriptor_limit(). */
static uint64_t descriptor_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_max;
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		log_warning(NULL, "cannot raise the limit of descriptors: %s", strerror(errno));
}

static void log_started(const struct proxy *proxy)
{
	char text[PROXY_SIZE_BYTES];

	log_info(NULL, "rpcrdma-proxy " PACKAGE_VERSION " is up: %s", proxy_size_text(proxy, text));
	sd_notify_ready();
	sd_notify_status("%s", text);
}

/* Checked here, because libraries exit silently without descriptors. */
static int check_descriptors(const struct config *config)
{
	uint64_t limit = descriptor_limit(), least = config_descriptors_min(config);

	if (limit >= least)
		return 0;
	log_error(
		NULL,
		"cannot start: the limit of descriptors (LimitNOFILE= in the unit, ulimit -n in a "
		"shell) is %" PRIu64 ", but %" PRIu64 " are needed before the first connection",
		limit, least);
	return -EMFILE;
}

static void run_until_stopped(struct loop *loop)
{
	event_loop_run(loop);
	sd_notify_stopping();
	log_info(NULL, "stopping");
}

/* Exits the process here if a worker waits for a device that does not execute a command. */
static void stop_proxy(struct proxy *proxy, int rc)
{
	if (proxy_stop(proxy))
		return;
	log_info(NULL, "stopped");
	log_stop_writer(LOG_FLUSH_MS);
	_exit(rc ? STATUS_FAILED : 0);
}

/* Runs the daemon until a signal or a control client stops it. */
static int serve(struct config *config)
{
	struct loop *loop = event_loop_new();
	struct cmd_table *control = NULL;
	struct snapshot_collector *snapshot_collector = NULL;
	struct http *http = NULL;
	struct proxy *proxy = NULL;
	struct signals signals = {.loop = loop, .fd = open_signals()};
	bool was_up = false;
	int rc = -ENOMEM;

	if (!loop || signals.fd < 0) {
		log_error(NULL, "cannot start: %s", strerror(loop ? errno : ENOMEM));
		goto out;
	}
	signals.io = loop_io_new(loop, signals.fd, on_signal, &signals);
	if (!signals.io)
		goto out;
	loop_io_set(loop, signals.io, LOOP_READ);
	rc = proxy_start(loop, config, &proxy);
	if (rc)
		goto out;
	rc = -ENOMEM;
	snapshot_collector = snapshot_collector_new(proxy);
	if (!snapshot_collector || reload_open(proxy))
		goto out;
	rc = cmd_table_open(proxy, snapshot_collector, &control);
	if (!rc)
		rc = http_open(proxy, snapshot_collector, &http);
	if (rc)
		goto out;
	log_started(proxy);
	was_up = true;
	signals.proxy = proxy;
	run_until_stopped(loop);
out:
	reload_close(proxy);
	http_close(http);
	cmd_table_close(control);
	snapshot_collector_close(snapshot_collector);
	stop_proxy(proxy, rc);
	if (loop)
		loop_io_free(loop, signals.io);
	event_loop_free(loop);
	if (signals.fd >= 0)
		close(signals.fd);
	if (was_up)
		log_info(NULL, "stopped");
	return rc;
}

/* Runs before the first thread starts, because threads inherit these settings. */
static int prepare_memory(struct config *config)
{
	int rc = config->io_flusher ? memlock_set_io_flusher() : 0;

	config->io_flusher_denied = rc != 0;
	if (rc)
		log_info(
			NULL,
			"io_flusher is off (%s): CAP_SYS_RESOURCE is missing; harmless unless this "
			"host mounts NFS through the proxy",
			strerror(-rc));
	memlock_drop_cap_sys_resource();
	rc = config->lock_memory ? memlock_all() : 0;
	if (rc)
		log_error(NULL,
			  "cannot start: lock_memory: %s (LimitMEMLOCK= in the unit, ulimit -l in "
			  "a shell)",
			  strerror(-rc));
	return rc;
}

/* Starts the log writer first, so that a blocked standard error delays no other thread. */
static int serve_logging(struct config *config)
{
	int rc = log_start_writer();

	if (rc) {
		fprintf(stderr, "rpcrdma-proxy: %s\n", strerror(-rc));
		return rc;
	}
	rc = serve(config);
	log_stop_writer(LOG_FLUSH_MS);
	return rc;
}

/* ---- the configuration file ---- */

/* Returns the text after "FILE:LINE: ". */
static const char *after_location(const char *line)
{
	for (const char *at = strchr(line, ':'); at; at = strchr(at + 1, ':')) {
		size_t digits = strspn(at + 1, "0123456789");

		if (digits && !strncmp(at + 1 + digits, ": ", 2))
			return at + 1 + digits + 2;
	}
	return line;
}

/* Logs one line about the file. Removes the mark "warning: ", which the log level shows. */
static void log_config_line(const char *line)
{
	static const char mark[] = "warning: ";
	const char *what = after_location(line);

	if (!strncmp(what, mark, strlen(mark)))
		log_warning(NULL, "%.*s%s", (int)(what - line), line, what + strlen(mark));
	else
		log_error(NULL, "%s", line);
}

static void log_config_lines(char *text)
{
	char *rest = text;
	const char *line;

	while ((line = strsep(&rest, "\n")))
		if (line[0])
			log_config_line(line);
}

/* Returns whether the error persists until the file is fixed. Devices can appear later. */
static bool is_permanent(int rc)
{
	return rc != -ENODEV && rc != -ENOMEM && rc != -EMFILE && rc != -ENFILE && rc != -EIO;
}

/*
 * Writes errors and warnings to @out. Returns 0, STATUS_CONFIG, or STATUS_FAILED if a retry can
 * help.
 */
static int load_config(const char *file, FILE *out, struct config **config)
{
	int rc = config_load(file, out, config);

	if (!rc) {
		rc = config_tls_load(*config, out);
		config_warn(*config, out);
	}
	if (!rc)
		return 0;
	config_free(*config);
	*config = NULL;
	if (rc != -EINVAL && rc != -ENODEV)
		fprintf(out, "%s: cannot read the configuration: %s\n", file, strerror(-rc));
	return is_permanent(rc) ? STATUS_CONFIG : STATUS_FAILED;
}

/*
 * Implements -t: prints plain lines for a terminal, warnings to standard error.
 * @verbose: also memory, descriptors and source ports
 */
static int check_file(const char *file, bool verbose)
{
	struct config *config = NULL;

	if (load_config(file, stderr, &config))
		return STATUS_FAILED;
	if (verbose) {
		config_memory_print(config, stdout);
		config_limits_print(config, stdout);
		config_descriptors_print(config, stdout);
		config_ports_print(config, stdout);
	}
	transparent_routes_print(config, stdout);
	config_descriptors_warn(config, descriptor_limit(), stderr);
	config_check_host(config, config->host.memory_bytes, stderr);
	config_check_names(config, &resolver_system, CONFIG_CHECK_NAMES_MS, stderr);
	printf("%s: OK\n", config->file);
	config_free(config);
	return 0;
}

/* Runs the daemon: logs lines with a level. */
static int run_daemon(const char *file)
{
	struct config *config = NULL;
	char *config_lines = NULL;
	size_t bytes;
	FILE *out = open_memstream(&config_lines, &bytes);
	int status;

	if (!out) {
		log_error(NULL, "cannot start: %s", strerror(errno));
		return STATUS_FAILED;
	}
	status = load_config(file, out, &config);
	fclose(out);
	if (config)
		log_configure_level(config->log_level);
	if (config_lines)
		log_config_lines(config_lines);
	free(config_lines);
	if (status) {
		log_error(NULL, "not started: %s; check it with: rpcrdma-proxy -t -c %s",
			  status == STATUS_CONFIG ? "the configuration is not valid"
						  : "the configuration cannot be used now",
			  file);
		return status;
	}
	raise_descriptor_limit();
	status = check_descriptors(config) || prepare_memory(config) || serve_logging(config)
			 ? STATUS_FAILED
			 : 0;
	config_free(config);
	return status;
}

/* ---- the command line ---- */

/* @opt: the result of getopt_long() for the argument before optind */
static int wrong_option(int opt, char **argv)
{
	const char *argument = argv[optind - 1];

	if (opt == ':')
		fprintf(stderr, "rpcrdma-proxy: -%c needs a file: see rpcrdma-proxy --help\n",
			optopt);
	else if (optopt && argument[1] != '-')
		fprintf(stderr, "rpcrdma-proxy: unknown option -%c: see rpcrdma-proxy --help\n",
			optopt);
	else
		fprintf(stderr, "rpcrdma-proxy: unknown option %s: see rpcrdma-proxy --help\n",
			argument);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	const char *file = CONFIG_DEFAULT_FILE;
	bool check_only = false, verbose = false;
	int opt;

	verbs_process_init();
	while ((opt = getopt_long(argc, argv, "+:c:tvVh", long_options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			file = optarg;
			break;
		case 't':
			check_only = true;
			break;
		case 'v':
			verbose = true;
			log_demand_level(LOG_LEVEL_DEBUG);
			break;
		case 'V':
			puts("rpcrdma-proxy " PACKAGE_VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return wrong_option(opt, argv);
		}
	}
	if (optind < argc && !strcmp(argv[optind], "help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (optind < argc) {
		fprintf(stderr,
			"rpcrdma-proxy: unexpected argument '%s': see rpcrdma-proxy --help\n",
			argv[optind]);
		return STATUS_USAGE;
	}
	return check_only ? check_file(file, verbose) : run_daemon(file);
}
