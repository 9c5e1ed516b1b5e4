// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file from its bytes to libconfig's tree. */
#include "daemon/config/config_parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/config/config_complaint.h"
#include "daemon/config/config_hint.h"
#include "daemon/config/config_scan.h"

#define MAX_FILE_BYTES    (1024u * 1024u)
#define MAX_INCLUDE_DEPTH 10u /* libconfig's */
#define QUOTE_BYTES       100u
#define BOM               "\xef\xbb\xbf"

/* One of the files that are read. */
struct source {
	struct config_reader *r;
	const char *path;
	unsigned depth; /* of the includes that lead to it */
};

/* Reads on to the end. Returns how many bytes there are, or a negative errno. */
static ssize_t slurp_into(FILE *file, char *text)
{
	size_t len;

	errno = 0;
	len = fread(text, 1, MAX_FILE_BYTES + 1, file);
	if (ferror(file))
		return errno ? -errno : -EIO;
	return len > MAX_FILE_BYTES ? -EFBIG : (ssize_t)len;
}

/* The whole file, which may be a pipe: it is read once and gone through more than once. */
static int slurp(const char *path, char **out, size_t *len)
{
	FILE *file = fopen(path, "re");
	ssize_t n = -ENOMEM;
	char *text;

	if (!file)
		return -errno;
	text = malloc(MAX_FILE_BYTES + 1);
	if (text)
		n = slurp_into(file, text);
	fclose(file);
	if (n < 0) {
		free(text);
		return (int)n;
	}
	text[n] = '\0';
	*out = text;
	*len = (size_t)n;
	return 0;
}

static void PRINTF_LIKE(2, 3) put(struct source *source, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	config_complaint_put(source->r->errors, format, ap);
	va_end(ap);
}

static void wrong(void *arg, unsigned line, const char *what)
{
	struct source *source = arg;

	source->r->nerrors++;
	put(source, "%s:%u: %s", source->path, line, what);
}

/* What no editor shows, and what libconfig would not read on behind. Returns whether there is any. */
static bool check_bytes(struct source *source, const char *text, size_t len)
{
	unsigned line = 1;

	if (!strncmp(text, BOM, strlen(BOM))) {
		wrong(source, 1,
		      "a byte order mark (BOM) begins the file: save it as UTF-8 without one");
		return true;
	}
	if (strlen(text) == len)
		return false;
	for (const char *at = text; *at; at++)
		line += *at == '\n';
	wrong(source, line,
	      "here is a zero byte: is this a text file, saved as UTF-8 and not UTF-16?");
	return true;
}

static void scan(struct source *source, const char *text);

/* Scans a file that is included. */
static void include(void *arg, unsigned line, const char *name)
{
	const struct source *source = arg;
	char *path = config_include_path(source->r, name), *what = NULL, *text = NULL;
	struct source inner = {source->r, path, source->depth + 1};
	struct stat stat_buf;
	size_t len;
	int err;

	if (!path) {
		source->r->nomem = true;
		return;
	}
	if (inner.depth > MAX_INCLUDE_DEPTH)
		source->r->too_deep = true;
	/* What includes itself more than once would be gone through for ever: libconfig says that it does. */
	if (source->r->too_deep)
		goto out;
	err = stat(path, &stat_buf) ? -errno : S_ISREG(stat_buf.st_mode) ? 0 : -EINVAL;
	if (!err)
		err = slurp(path, &text, &len);
	if (!err) {
		if (!check_bytes(&inner, text, len))
			scan(&inner, text);
		goto out;
	}
	if (asprintf(&what, "@include \"%s\": cannot read %s: %s%s", name, path,
		     err == -EINVAL ? "not a file" : strerror(-err),
		     *name == '/' && strcmp(name, path)
			     ? " (write the name as seen from the folder of this file)"
			     : "") < 0)
		source->r->nomem = true;
	else
		wrong(arg, line, what);
	free(what);
out:
	free(text);
	free(path);
}

static void scan(struct source *source, const char *text)
{
	static const struct config_scan_ops ops = {wrong, include};

	config_scan(text, &ops, source);
}

/* What libconfig found, in words. */
static void explain(struct source *source, const char *text, unsigned line, const char *error)
{
	char hint[CONFIG_HINT_BYTES], quote[QUOTE_BYTES];

	if (!strcmp(error, "syntax error")) {
		line = config_hint_syntax(text, line, hint);
		fprintf(source->r->errors, "%s:%u: syntax error: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "duplicate setting name")) {
		config_hint_twice(text, line, hint);
		fprintf(source->r->errors, "%s:%u: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "mismatched element type in array")) {
		fprintf(source->r->errors, "%s:%u: all entries in [ ] must be strings in quotes\n",
			source->path, line);
	} else if (!strcmp(error, "include file nesting too deep")) {
		fprintf(source->r->errors,
			"%s:%u: @include leads from file to file more than %u deep: does one "
			"include itself?\n",
			source->path, line, MAX_INCLUDE_DEPTH);
	} else {
		fprintf(source->r->errors, "%s:%u: %s\n", source->path, line, error);
	}
	config_hint_quote(text, line, quote, sizeof(quote));
	if (*quote)
		fprintf(source->r->errors, "%s:%u:     %s\n", source->path, line, quote);
}

/* The error that libconfig came to, which may be in a file that is included. */
static void report(struct config_reader *r, const config_t *parsed, const char *text)
{
	const char *file = config_error_file(parsed), *error = config_error_text(parsed);
	unsigned line = config_error_line(parsed) > 0 ? (unsigned)config_error_line(parsed) : 1;
	char *path = file ? config_file_path(r, file) : NULL, *inner = NULL;
	struct source source = {.r = r, .path = path ? path : r->path};
	size_t len;

	r->nerrors++;
	if (path && slurp(path, &inner, &len))
		inner = NULL; /* gone since */
	explain(&source, !path ? text : inner ? inner : "", line, error ? error : "syntax error");
	free(inner);
	free(path);
}

int config_parse(struct config_reader *r, config_t *parsed)
{
	struct source source = {.r = r, .path = r->path};
	char *text = NULL;
	size_t len = 0;
	int err = slurp(r->path, &text, &len);

	if (err)
		return err;
	if (!check_bytes(&source, text, len))
		scan(&source, text);
	if (r->nomem) {
		err = -ENOMEM;
	} else if (r->nerrors) {
		err = -EINVAL;
	} else {
		config_set_include_dir(parsed, r->dir);
		if (!config_read_string(parsed, text)) {
			report(r, parsed, text);
			err = -EINVAL;
		}
	}
	free(text);
	return err;
}
