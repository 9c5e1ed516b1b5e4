// SPDX-License-Identifier: BSD-3-Clause
/* What a setting of the configuration file is, and is not. */
#include "daemon/config/config_type.h"

const char *config_type_text(const config_setting_t *setting)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_GROUP:
		return "a group { }";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a number";
	case CONFIG_TYPE_FLOAT:
		return "a fraction";
	case CONFIG_TYPE_STRING:
		return "a string";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_ARRAY:
		return "an array [ ]";
	case CONFIG_TYPE_LIST:
		return "a list ( )";
	default:
		return "nothing";
	}
}

void config_report_type(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, const char *wanted)
{
	bool plain = key->type == CONFIG_KEY_NUMBER || key->type == CONFIG_KEY_BOOL;
	const char *cure = plain && config_setting_type(s) == CONFIG_TYPE_STRING
				   ? ": write it without quotes"
				   : "";

	config_report(r, s, "%s must be %s, not %s%s", key->name, wanted, config_type_text(s),
		      cure);
}

bool config_is_array(const config_setting_t *s)
{
	return config_setting_is_array(s) || config_setting_is_list(s);
}
