// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_parse.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "daemon/config/syntax/hint.h"
#include "daemon/config/syntax/tokens.h"

/* Since 1.7 libconfig accepts absolute names. Older versions look for them in the directory. */
#if LIBCONFIG_VER_MAJOR > 1 || LIBCONFIG_VER_MINOR >= 7
#define ABSOLUTE_INCLUDES true
#else
#define ABSOLUTE_INCLUDES false
#endif

int config_ctx_init(struct config_ctx *r, const char *path, FILE *errors)
{
	*r = (struct config_ctx){.path = path, .errors = errors};
	if (strlen(path) >= sizeof(r->folder))
		return -ENAMETOOLONG;
	strcpy(r->folder, path);
	r->dir = dirname(r->folder);
	return 0;
}

static char *in_folder(const struct config_ctx *r, const char *name)
{
	char *path;

	if (!strcmp(r->dir, ".") && *name != '/')
		return strdup(name);
	return asprintf(&path, "%s/%s", r->dir, name) < 0 ? NULL : path;
}

/*
 * Returns the path that libconfig opens for an @include, which the caller frees, or NULL if memory
 * ran out.
 */
static char *config_include_path(const struct config_ctx *r, const char *name)
{
	return ABSOLUTE_INCLUDES && *name == '/' ? strdup(name) : in_folder(r, name);
}

/*
 * Returns the path of an included file from the name in libconfig's errors, which the caller frees,
 * or NULL if memory ran out. Since 1.7 libconfig names a file by the path that it opened.
 */
static char *config_file_path(const struct config_ctx *r, const char *name)
{
	return ABSOLUTE_INCLUDES ? strdup(name) : in_folder(r, name);
}

char *config_location(const struct config_ctx *r, const config_setting_t *setting)
{
	/* NULL for the main file */
	const char *file = config_setting_source_file(setting);
	unsigned line = config_setting_source_line(setting);
	char *path = file ? config_file_path(r, file) : NULL, *place;

	if (asprintf(&place, "%s:%u", path ? path : r->path, line ? line : 1) < 0)
		place = NULL;
	free(path);
	return place;
}

/*
 * Writes the rest of an error line after "FILE:LINE: ", and counts the error. The text can quote
 * the file, so control characters become '?': a terminal would obey them, or the line would break.
 */
static void PRINTF_LIKE(2, 0)
	config_reader_put(struct config_ctx *r, const char *format, va_list ap)
{
	char *text;

	r->nerrors++;
	if (vasprintf(&text, format, ap) >= 0) {
		for (char *c = text; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
		fputs(text, r->errors);
		free(text);
	}
	fputc('\n', r->errors);
}

void config_report(struct config_ctx *r, const config_setting_t *setting, const char *format, ...)
{
	char *place = config_location(r, setting);
	va_list ap;

	fprintf(r->errors, "%s: ", place ? place : r->path);
	va_start(ap, format);
	config_reader_put(r, format, ap);
	va_end(ap);
	free(place);
}

#define MAX_FILE_BYTES    (1024u * 1024u)
#define MAX_INCLUDE_DEPTH 10u /* libconfig's */
#define QUOTE_BYTES       100u
#define BOM               "\xef\xbb\xbf"

/* A file that is read. */
struct source {
	struct config_ctx *r;
	const char *path;
	unsigned depth; /* nesting depth of its include */
	char *text;     /* zero-terminated; NULL: not read */
	struct syntax_tokens tokens;
};

static void source_fini(struct source *source)
{
	syntax_tokens_fini(&source->tokens);
	free(source->text);
}

/* Reads to the end. Returns the number of bytes, or a negative errno. */
static ssize_t read_file_into(FILE *file, char *text)
{
	size_t len;

	errno = 0;
	len = fread(text, 1, MAX_FILE_BYTES + 1, file);
	if (ferror(file))
		return errno ? -errno : -EIO;
	return len > MAX_FILE_BYTES ? -EFBIG : (ssize_t)len;
}

/* Reads the whole file once, because it can be a pipe. Returns 0 or a negative errno. */
static int read_file(const char *path, char **out, size_t *len)
{
	FILE *file = fopen(path, "re");
	ssize_t n = -ENOMEM;
	char *text;

	if (!file)
		return -errno;
	text = malloc(MAX_FILE_BYTES + 1);
	if (text)
		n = read_file_into(file, text);
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

static void PRINTF_LIKE(3, 4)
	report_at(struct source *source, unsigned line, const char *format, ...)
{
	va_list ap;

	fprintf(source->r->errors, "%s:%u: ", source->path, line);
	va_start(ap, format);
	config_reader_put(source->r, format, ap);
	va_end(ap);
}

/*
 * Reports bytes that editors do not show, or after which libconfig stops reading. Returns whether
 * any was found.
 */
static bool check_bytes(struct source *source, size_t len)
{
	const char *text = source->text;
	unsigned line = 1;

	if (!strncmp(text, BOM, strlen(BOM))) {
		report_at(source, 1,
			  "the file begins with a byte order mark (BOM): save it as UTF-8 without "
			  "one");
		return true;
	}
	if (strlen(text) == len)
		return false;
	for (const char *at = text; *at; at++)
		line += *at == '\n';
	report_at(source, line, "zero byte: is this a text file, saved as UTF-8 and not UTF-16?");
	return true;
}

static int scan_file(struct source *source);

/*
 * Scans an included file. libconfig does not name an unreadable file, and exits if it is a
 * directory.
 */
static void include(struct source *source, const struct syntax_token *token)
{
	char *name = strndup(token->text + 1, token->len - 2);
	char *path = name ? config_include_path(source->r, name) : NULL;
	struct source inner = {.r = source->r, .path = path, .depth = source->depth + 1};
	struct stat stat_buf;
	int err = 0;

	if (!path)
		source->r->nomem = true;
	if (inner.depth > MAX_INCLUDE_DEPTH)
		source->r->too_deep = true;
	/*
	 * Stop here: a file that includes itself would be scanned for ever. libconfig reports it.
	 */
	if (!path || source->r->too_deep)
		goto out;
	err = stat(path, &stat_buf) ? -errno : S_ISREG(stat_buf.st_mode) ? 0 : -EINVAL;
	if (!err)
		err = scan_file(&inner);
	if (err)
		report_at(source, token->line, "@include \"%s\": cannot read %s: %s%s", name, path,
			  err == -EINVAL ? "not a file" : strerror(-err),
			  *name == '/' && strcmp(name, path)
				  ? " (write the name relative to the directory of this file)"
				  : "");
out:
	source_fini(&inner);
	free(path);
	free(name);
}

/*
 * Reads a file and reports mistakes that libconfig would miss. Returns 0, or the negative errno of
 * reading it.
 */
static int scan_file(struct source *source)
{
	char hint[SYNTAX_HINT_BYTES];
	size_t len;
	int err = read_file(source->path, &source->text, &len);

	if (err || check_bytes(source, len))
		return err;
	if (!syntax_tokens_read(source->text, &source->tokens))
		return -ENOMEM;
	for (const struct syntax_token *t = source->tokens.first; t < source->tokens.end; t++) {
		if (syntax_precheck(t, hint))
			report_at(source, t->line, "%s", hint);
		if (syntax_is_open(t))
			break; /* the following tokens are unreliable */
		if (t->kind == SYNTAX_INCLUDE)
			include(source, t);
	}
	return 0;
}

/* Quotes a line in the errors, trimmed and cut to QUOTE_BYTES; skips an empty line. */
static void quote_line(const struct source *source, unsigned line)
{
	const char *text = source->text;
	size_t len;

	for (unsigned i = 1; i < line && text; i++) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return;
	text += strspn(text, " \t");
	len = strcspn(text, "\r\n");
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return;
	fprintf(source->r->errors, "%s:%u:     ", source->path, line);
	for (size_t i = 0; i < len && i < QUOTE_BYTES - 1; i++)
		fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i],
		      source->r->errors);
	fputc('\n', source->r->errors);
}

/* Reports an error of libconfig with an explanation. */
static void explain_error(struct source *source, unsigned line, const char *error)
{
	FILE *out = source->r->errors;
	char hint[SYNTAX_HINT_BYTES];

	if (!strcmp(error, "syntax error")) {
		line = syntax_hint(&source->tokens, line, hint);
		fprintf(out, "%s:%u: syntax error: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "duplicate setting name")) {
		syntax_hint_duplicate(&source->tokens, line, hint);
		fprintf(out, "%s:%u: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "mismatched element type in array")) {
		fprintf(out, "%s:%u: all entries in [ ] must be strings in quotes\n", source->path,
			line);
	} else if (!strcmp(error, "include file nesting too deep")) {
		fprintf(out,
			"%s:%u: more than %u nested @include: does a file "
			"include itself?\n",
			source->path, line, MAX_INCLUDE_DEPTH);
	} else {
		fprintf(out, "%s:%u: %s\n", source->path, line, error);
	}
	quote_line(source, line);
}

/* Reports the error of libconfig, which can be in an included file. */
static void report_libconfig(struct source *source, const config_t *parsed)
{
	const char *file = config_error_file(parsed), *error = config_error_text(parsed);
	unsigned line = config_error_line(parsed) > 0 ? (unsigned)config_error_line(parsed) : 1;
	char *path = file ? config_file_path(source->r, file) : NULL;
	struct source inner = {.r = source->r, .path = path};
	size_t len;

	source->r->nerrors++;
	if (path) {
		source = &inner;
		if (read_file(path, &inner.text, &len))
			inner.text = NULL; /* the file has disappeared */
		if (!syntax_tokens_read(inner.text ? inner.text : "", &inner.tokens))
			inner.r->nomem = true;
	}
	if (!source->r->nomem)
		explain_error(source, line, error ? error : "syntax error");
	source_fini(&inner);
	free(path);
}

int config_parse(struct config_ctx *r, config_t *parsed)
{
	struct source source = {.r = r, .path = r->path};
	int err = scan_file(&source);

	if (!err && r->nomem)
		err = -ENOMEM;
	if (!err && r->nerrors)
		err = -EINVAL;
	if (!err) {
		config_set_include_dir(parsed, r->dir);
		if (!config_read_string(parsed, source.text)) {
			report_libconfig(&source, parsed);
			err = r->nomem ? -ENOMEM : -EINVAL;
		}
	}
	source_fini(&source);
	return err;
}
