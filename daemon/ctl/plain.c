// SPDX-License-Identifier: BSD-3-Clause
/* Answers without control characters. */
#include "daemon/ctl/plain.h"

#include <stdlib.h>
#include <string.h>

/* In UTF-8 those of Latin 1 have two bytes. */
static size_t control_bytes(const char *at)
{
	const unsigned char *c = (const unsigned char *)at;

	if (*c < 0x20 || *c == 0x7f)
		return 1;
	return c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
}

static char *plain_text(const char *text)
{
	char *plain = strdup(text), *to = plain;

	while (plain && *text) {
		size_t skip = control_bytes(text);

		*to++ = skip ? '?' : *text;
		text += skip ? skip : 1;
	}
	if (plain)
		*to = '\0';
	return plain;
}

static json_t *plain_string(const json_t *value)
{
	char *text = plain_text(json_string_value(value));
	json_t *plain = text ? json_string(text) : NULL;

	free(text);
	return plain;
}

static json_t *plain_array(const json_t *value)
{
	json_t *plain = json_array();

	for (size_t i = 0; i < json_array_size(value); i++) {
		if (json_array_append_new(plain, plain_json(json_array_get(value, i)))) {
			json_decref(plain);
			return NULL;
		}
	}
	return plain;
}

static json_t *plain_object(const json_t *value)
{
	json_t *plain = json_object(), *member;
	const char *key;
	char *text;
	int rc;

	json_object_foreach((json_t *)value, key, member)
	{
		text = plain_text(key);
		rc = text ? json_object_set_new(plain, text, plain_json(member)) : -1;
		free(text);
		if (rc) {
			json_decref(plain);
			return NULL;
		}
	}
	return plain;
}

json_t *plain_json(const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_STRING:
		return plain_string(value);
	case JSON_ARRAY:
		return plain_array(value);
	case JSON_OBJECT:
		return plain_object(value);
	default:
		return json_incref((json_t *)value);
	}
}
