/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A look at the configuration file before libconfig reads it, for what libconfig 1.5 takes without a word: it folds a
 * number that does not fit 32 bits to one that does, joins strings that stand side by side, reads a string on over
 * the end of its line, and takes the rest of the file into a comment that nothing ends. An @include of what cannot be
 * read it does not name, and one of a folder ends the process.
 */
#ifndef DAEMON_CONFIG_CONFIG_SCAN_H
#define DAEMON_CONFIG_CONFIG_SCAN_H

/* Whom a scan tells; the texts last for the call. */
struct config_scan_ops {
	/* A mistake, in words. */
	void (*wrong)(void *arg, unsigned line, const char *what);
	/* A file that is read in the place of this line. */
	void (*include)(void *arg, unsigned line, const char *name);
};

/**
 * config_scan - find what libconfig would not report
 * @text: the file; what it includes is told and not looked at
 *
 * Numbers that end in L are 64 bits wide and are left alone. After a string or a comment that is not closed the scan
 * ends, since nothing is what it seems any more.
 */
void config_scan(const char *text, const struct config_scan_ops *ops, void *arg);

#endif
