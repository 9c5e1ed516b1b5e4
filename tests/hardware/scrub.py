#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Removes names and addresses from a report: scrub.py [--name NAME]... <RAW >REPORT

Host names (those of --name, and all names of their domains), addresses of IPv4 and IPv6, GIDs, GUIDs, MAC addresses, UUIDs, serial
numbers and home directories. A word with a number replaces each; the same text always gets the same number. Addresses
that every host has, firmware versions and the lines `result N: ok` stay.
"""

import argparse
import ipaddress
import re
import sys

HEX = r'[0-9A-Fa-f]'
EVERYWHERE = {'127.0.0.1', '::1', '0.0.0.0', '::'}
# No letter, digit or address character precedes or follows.
ALONE = r'(?<![\w:.-])%s(?![\w:-])'

KEPT = re.compile(r'result \d+: ok')
VERSION = re.compile(r'((?:fw_ver|firmware|driver version)\s*:?\s*)(\S+)', re.I)
SERIAL = re.compile(r'\b(serial(?:[ _]?(?:number|no|nr))?|asset tag|s/n|sn)(\s*[:=#]\s*)(\S+)', re.I)
UUID = re.compile(ALONE % rf'{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}')
# Ethernet has 6 bytes, IPoIB 20.
MAC = re.compile(ALONE % rf'(?:{HEX}{{2}}[:-]){{5,19}}{HEX}{{2}}')
MAC_IN_NAME = re.compile(rf'\b(enx|wlx|ibx){HEX}{{12}}')
# Excludes limits with all bits set, and flags.
GUID = re.compile(ALONE % rf'(?:{HEX}{{4}}:){{3}}{HEX}{{4}}' + rf'|\b0x(?!f{{16}}|0{{8}}){HEX}{{16}}\b')
V4 = re.compile(r'(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)')
V6 = re.compile(rf'(?<![\w:.])(?={HEX}*:{HEX}*:)[0-9A-Fa-f:]+(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}})?(?![\w:]|\.\d)')
HOME = re.compile(r'/home/[^/\s]+')


class Scrubber:
    """Replaces names and addresses in lines."""

    def __init__(self, names):
        words = {name.strip('.') for name in names}
        words |= {name.split('.')[0] for name in words if not is_address(name)}
        domains = {name.split('.', 1)[1] for name in words if not is_address(name) and '.' in name.strip('.')}
        words -= {'', 'localhost'}
        found = [r'[\w-]+(?:\.[\w-]+)*\.' + re.escape(domain) for domain in domains if domain != 'localdomain']
        found += [re.escape(word) for word in sorted(words, key=len, reverse=True) if not is_address(word)]
        self.names = re.compile(r'(?<![\w-])(?:%s)(?![\w-])' % '|'.join(found), re.I) if found else None
        self.numbers = {}

    def word(self, kind, text):
        """Returns the replacement for a text, always with the same number."""
        known = self.numbers.setdefault(kind, {})
        return f'{kind}-{known.setdefault(text.lower(), len(known) + 1)}'

    def of(self, kind):
        """Returns a function that replaces a match by a word of that kind."""
        return lambda match: self.word(kind, match.group())

    def address(self, match):
        """Returns the replacement for an address; other texts unchanged."""
        text = match.group()
        if text in EVERYWHERE or not is_address(text):
            return text
        return self.word('ADDRESS', str(ipaddress.ip_address(text)))

    def line(self, text):
        """Returns the line with all replacements."""
        versions = []

        def keep(match):
            versions.append(match.group(2))
            return f'{match.group(1)}\0{len(versions) - 1}\0'

        if KEPT.fullmatch(text.rstrip('\n')):
            return text
        text = VERSION.sub(keep, text)
        text = SERIAL.sub(lambda match: match.group(1) + match.group(2) + self.word('SERIAL', match.group(3)), text)
        for kind, pattern in ('UUID', UUID), ('MAC', MAC), ('INTERFACE', MAC_IN_NAME), ('GUID', GUID):
            text = pattern.sub(self.of(kind), text)
        text = V6.sub(self.address, text)
        text = V4.sub(self.address, text)
        text = HOME.sub('/home/USER', text)
        if self.names:
            text = self.names.sub(self.of('HOST'), text)
        return re.sub('\0(\\d+)\0', lambda match: versions[int(match.group(1))], text)


def is_address(text):
    """Returns whether a text is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def main():
    """Scrubs standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--name', action='append', default=[])
    scrubber = Scrubber(parser.parse_args().name)
    for line in sys.stdin:
        sys.stdout.write(scrubber.line(line))


if __name__ == '__main__':
    main()
