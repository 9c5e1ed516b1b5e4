// SPDX-License-Identifier: BSD-3-Clause
/* rpcrdma-proxy: command line, signals, and the order in which the daemon comes up and goes down. */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/paths.h"
#include "daemon/base/sd.h"
#include "daemon/config/config.h"
#include "daemon/config/config_descriptors.h"
#include "daemon/config/config_load.h"
#include "daemon/config/config_memory.h"
#include "daemon/control/query.h"
#include "daemon/proxy/proxy.h"

static const char usage[] = "usage: rpcrdma-proxy [-c FILE] [-t] [-v] [-V] [-h]\n"
			    "Joins ONC RPC over TCP and RPC-over-RDMA. Runs in the foreground.\n"
			    "  -c FILE  configuration file (" CONFIG_DEFAULT_FILE ")\n"
			    "  -t       check the configuration file and exit\n"
			    "  -v       log more\n"
			    "  -V       print the version and exit\n"
			    "  -h       print this help and exit\n";

#define LOG_FLUSH_MS 1000u

struct signals {
	struct loop *loop;
	struct loop_io *io;
	int fd;
};

static void on_signal(void *arg, unsigned events)
{
	const struct signals *signals = arg;
	struct signalfd_siginfo info;

	if (events & LOOP_ERROR) {
		/* Nobody could end it in good order later. */
		log_error(NULL, "cannot watch for signals");
		event_loop_stop(signals->loop);
		return;
	}
	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		log_warning(NULL, "SIGHUP: nothing is reloaded; restart to use a changed file");
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

/* What raise_descriptor_limit() makes of it. */
static uint64_t descriptor_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_max;
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		log_warning(NULL, "cannot raise the limit of descriptors: %s", strerror(errno));
}

/* Runs until a signal or the control socket ends it. */
static int serve(const struct config *config)
{
	struct loop *loop = event_loop_new();
	struct query_control *control = NULL;
	struct proxy *proxy = NULL;
	struct signals signals = {.loop = loop, .fd = open_signals()};
	int rc = -ENOMEM;

	if (!loop || signals.fd < 0)
		goto out;
	signals.io = loop_io_new(loop, signals.fd, on_signal, &signals);
	if (!signals.io)
		goto out;
	loop_io_set(loop, signals.io, LOOP_READ);
	rc = proxy_start(loop, config, &proxy);
	if (rc)
		goto out;
	rc = query_control_open(proxy, &control);
	if (rc)
		goto out;
	log_info(NULL, "rpcrdma-proxy " PACKAGE_VERSION " is up: %zu services, %zu workers",
		 config->nservices, proxy->nworkers);
	sd_ready();
	sd_status("%zu services, %zu workers", config->nservices, proxy->nworkers);
	event_loop_run(loop);
	sd_stopping();
	log_info(NULL, "stopping");
out:
	query_control_close(control);
	proxy_stop(proxy);
	if (loop)
		loop_io_free(loop, signals.io);
	event_loop_free(loop);
	if (signals.fd >= 0)
		close(signals.fd);
	return rc;
}

/* From here on standard error blocks nobody. */
static int serve_logging(const struct config *config)
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

/* What -t says of a file without errors. */
static void print_check(const struct config *config)
{
	config_memory_print(config, stdout);
	config_descriptors_print(config, stdout);
	config_descriptors_warn(config, descriptor_limit(), stderr);
	printf("%s: OK\n", config->file);
}

int main(int argc, char **argv)
{
	const char *file = CONFIG_DEFAULT_FILE;
	bool check_only = false;
	struct config *config;
	int opt, rc;

	while ((opt = getopt(argc, argv, "c:tvVh")) != -1) {
		switch (opt) {
		case 'c':
			file = optarg;
			break;
		case 't':
			check_only = true;
			break;
		case 'v':
			log_set_level(LOG_LEVEL_DEBUG);
			break;
		case 'V':
			puts("rpcrdma-proxy " PACKAGE_VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 1;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "rpcrdma-proxy: unexpected argument '%s'\n%s", argv[optind], usage);
		return 1;
	}
	rc = config_load(file, stderr, &config);
	if (rc) {
		if (rc != -EINVAL)
			fprintf(stderr, "rpcrdma-proxy: %s: %s\n", file, strerror(-rc));
		return 1;
	}
	config_warn(config, stderr);
	if (check_only) {
		print_check(config);
	} else {
		raise_descriptor_limit();
		rc = serve_logging(config);
	}
	config_free(config);
	return rc ? 1 : 0;
}
