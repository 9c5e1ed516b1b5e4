// SPDX-License-Identifier: BSD-3-Clause
/* One reading of the configuration file: where its files are, and its errors. */
#include "daemon/config/config_reader.h"

#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

char *config_include_path(const struct config_reader *r, const char *name)
{
	return ABSOLUTE_INCLUDES && *name == '/' ? strdup(name) : in_folder(r, name);
}

/* Since 1.7 libconfig names a file as it has opened it. */
char *config_file_path(const struct config_reader *r, const char *name)
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

void config_reader_put(struct config_reader *r, const char *format, va_list ap)
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
