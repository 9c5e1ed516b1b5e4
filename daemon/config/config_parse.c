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

/* libconfig takes an absolute name as it is from 1.7 on; before that it looks for it in the folder. */
#if LIBCONFIG_VER_MAJOR > 1 || LIBCONFIG_VER_MINOR >= 7
#define ABSOLUTE_INCLUDES true
#else
#define ABSOLUTE_INCLUDES false
#endif

int config_reader_init(struct config_reader *r, const char *path, FILE *errors)
{
	*r = (struct config_reader){.path = path, .errors = errors};
	if (strlen(path) >= sizeof(r->folder))
		return -ENAMETOOLONG;
	strcpy(r->folder, path);
	r->dir = dirname(r->folder);
	return 0;
}

static char *in_folder(const struct config_reader *r, const char *name)
{
	char *path;

	if (!strcmp(r->dir, ".") && *name != '/')
		return strdup(name);
	return asprintf(&path, "%s/%s", r->dir, name) < 0 ? NULL : path;
}

/* Where libconfig looks for what @include names: to be freed, or NULL for want of memory. */
static char *config_include_path(const struct config_reader *r, const char *name)
{
	return ABSOLUTE_INCLUDES && *name == '/' ? strdup(name) : in_folder(r, name);
}

/*
 * The path of an included file, as libconfig names it: to be freed, or NULL for want of memory. Since 1.7 libconfig names a
 * file as it has opened it.
 */
static char *config_file_path(const struct config_reader *r, const char *name)
{
	return ABSOLUTE_INCLUDES ? strdup(name) : in_folder(r, name);
}

char *config_place(const struct config_reader *r, const config_setting_t *setting)
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
 * The rest of a line about a file, from where "FILE:LINE: " was written. It counts as an error. It may quote the file: what a
 * terminal would obey, or would make two lines of it, stands as '?'.
 */
static void PRINTF_LIKE(2, 0)
	config_reader_put(struct config_reader *r, const char *format, va_list ap)
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

void config_report(struct config_reader *r, const config_setting_t *setting, const char *format,
		   ...)
{
	char *place = config_place(r, setting);
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

/* One of the files that are read. */
struct source {
	struct config_reader *r;
	const char *path;
	unsigned depth; /* of the includes that lead to it */
	char *text;     /* ended by a zero byte; NULL: not read */
	struct syntax_tokens tokens;
};

static void source_fini(struct source *source)
{
	syntax_tokens_fini(&source->tokens);
	free(source->text);
}

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

static void PRINTF_LIKE(3, 4) wrong(struct source *source, unsigned line, const char *format, ...)
{
	va_list ap;

	fprintf(source->r->errors, "%s:%u: ", source->path, line);
	va_start(ap, format);
	config_reader_put(source->r, format, ap);
	va_end(ap);
}

/* What no editor shows, and what libconfig would not read on behind. Returns whether there is any. */
static bool check_bytes(struct source *source, size_t len)
{
	const char *text = source->text;
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

static int scan(struct source *source);

/* Scans a file that is included: one that cannot be read libconfig does not name, and a folder ends the process. */
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
	/* What includes itself more than once would be gone through for ever: libconfig says that it does. */
	if (!path || source->r->too_deep)
		goto out;
	err = stat(path, &stat_buf) ? -errno : S_ISREG(stat_buf.st_mode) ? 0 : -EINVAL;
	if (!err)
		err = scan(&inner);
	if (err)
		wrong(source, token->line, "@include \"%s\": cannot read %s: %s%s", name, path,
		      err == -EINVAL ? "not a file" : strerror(-err),
		      *name == '/' && strcmp(name, path)
			      ? " (write the name as seen from the folder of this file)"
			      : "");
out:
	source_fini(&inner);
	free(path);
	free(name);
}

/* Reads a file and finds what libconfig would not report. Returns 0, or the errno of reading it. */
static int scan(struct source *source)
{
	char hint[SYNTAX_HINT_BYTES];
	size_t len;
	int err = slurp(source->path, &source->text, &len);

	if (err || check_bytes(source, len))
		return err;
	if (!syntax_tokens_read(source->text, &source->tokens))
		return -ENOMEM;
	for (const struct syntax_token *t = source->tokens.first; t < source->tokens.end; t++) {
		if (syntax_unseen(t, hint))
			wrong(source, t->line, "%s", hint);
		if (syntax_is_open(t))
			break; /* nothing is what it seems any more */
		if (t->kind == SYNTAX_INCLUDE)
			include(source, t);
	}
	return 0;
}

/* Shows a line, without blanks around it and cut to a bound; nothing of an empty one. */
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

/* What libconfig found, in words. */
static void explain(struct source *source, unsigned line, const char *error)
{
	FILE *out = source->r->errors;
	char hint[SYNTAX_HINT_BYTES];

	if (!strcmp(error, "syntax error")) {
		line = syntax_hint(&source->tokens, line, hint);
		fprintf(out, "%s:%u: syntax error: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "duplicate setting name")) {
		syntax_hint_twice(&source->tokens, line, hint);
		fprintf(out, "%s:%u: %s\n", source->path, line, hint);
	} else if (!strcmp(error, "mismatched element type in array")) {
		fprintf(out, "%s:%u: all entries in [ ] must be strings in quotes\n", source->path,
			line);
	} else if (!strcmp(error, "include file nesting too deep")) {
		fprintf(out,
			"%s:%u: @include leads from file to file more than %u deep: does one "
			"include itself?\n",
			source->path, line, MAX_INCLUDE_DEPTH);
	} else {
		fprintf(out, "%s:%u: %s\n", source->path, line, error);
	}
	quote_line(source, line);
}

/* The error that libconfig came to, which may be in a file that is included. */
static void report(struct source *source, const config_t *parsed)
{
	const char *file = config_error_file(parsed), *error = config_error_text(parsed);
	unsigned line = config_error_line(parsed) > 0 ? (unsigned)config_error_line(parsed) : 1;
	char *path = file ? config_file_path(source->r, file) : NULL;
	struct source inner = {.r = source->r, .path = path};
	size_t len;

	source->r->nerrors++;
	if (path) {
		source = &inner;
		if (slurp(path, &inner.text, &len))
			inner.text = NULL; /* gone since */
		if (!syntax_tokens_read(inner.text ? inner.text : "", &inner.tokens))
			inner.r->nomem = true;
	}
	if (!source->r->nomem)
		explain(source, line, error ? error : "syntax error");
	source_fini(&inner);
	free(path);
}

int config_parse(struct config_reader *r, config_t *parsed)
{
	struct source source = {.r = r, .path = r->path};
	int err = scan(&source);

	if (!err && r->nomem)
		err = -ENOMEM;
	if (!err && r->nerrors)
		err = -EINVAL;
	if (!err) {
		config_set_include_dir(parsed, r->dir);
		if (!config_read_string(parsed, source.text)) {
			report(&source, parsed);
			err = r->nomem ? -ENOMEM : -EINVAL;
		}
	}
	source_fini(&source);
	return err;
}
