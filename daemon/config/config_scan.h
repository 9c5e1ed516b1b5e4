/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A look at the configuration file before libconfig reads it: libconfig 1.5 folds a number that
 * does not fit 32 bits to one that does, without a word.
 */
#ifndef DAEMON_CONFIG_CONFIG_SCAN_H
#define DAEMON_CONFIG_CONFIG_SCAN_H

/**
 * config_scan_numbers - find the decimal numbers that libconfig would fold
 * @text:      the file; what it includes is not looked at
 * @too_large: called for each, with its line and its first digits
 *
 * Numbers that end in L are 64 bits wide and are left alone, as are comments and strings.
 */
void config_scan_numbers(const char *text,
			 void (*too_large)(void *arg, unsigned line, const char *digits),
			 void *arg);

#endif
