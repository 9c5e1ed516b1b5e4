#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An NFSv3 client on the host that works through a gateway in the guest. The guest controls it (guest/reexport.sh).

usage: gateway_client.py ADDRESS PORT

Listens for one guest, which sends one command per line. The answer is a line with "done ..." or "failed ...":

    open NFS_ADDRESS NFS_PORT MOUNT_ADDRESS MOUNT_PORT PATH NAME    "done HANDLE", in hexadecimal
    getattr COUNT
    read BYTES COUNT            at COUNT different offsets of the whole file
    sequential BYTES COUNT      at consecutive offsets
    again BYTES COUNT           all at the same offset
    write BYTES COUNT STABLE    at the offsets of read; STABLE is 2 for FILE_SYNC; with 0 a COMMIT follows the last WRITE
    rewind                      starts at the first offset again

One Call is in flight at a time. Data are those of content(); the client compares all that it reads.
"""
import os
import socket
import struct
import sys

NFS, MOUNT = 100003, 100005
FILE_BYTES = 256 << 20
STEP_BYTES = 128 << 10  # the least distance of two offsets
TIMEOUT_S = 600


def word(offset):
    """Returns the eight bytes at an offset of the file that is a multiple of eight."""
    return struct.pack('>Q', (offset * 0x9e3779b97f4a7c15 + 0x1234567) & 0xffffffffffffffff)


def content(offset, size):
    """Returns the bytes of the file. Each KiB repeats eight bytes, which differ from those of any other KiB."""
    return b''.join(word(at) * 128 for at in range(offset, offset + size, 1024))


def opaque(data):
    return struct.pack('>I', len(data)) + data + bytes(-len(data) % 4)


class Reply:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form='>I'):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def bytes(self):
        size = self.number()
        value = self.data[self.at:self.at + size]
        self.at += size + -size % 4
        return value

    def attributes(self):
        """Skips optional attributes. Returns whether there were any."""
        there = self.number()
        self.at += 84 * there
        return there


class Connection:
    """Record-marked RPC with AUTH_SYS, from a reserved port if the process may use one."""

    def __init__(self, address, port):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(TIMEOUT_S)
        for own in range(1023, 600, -1):
            try:
                self.socket.bind(('', own))
                break
            except OSError:
                pass
        self.socket.connect((address, port))
        self.xid = int.from_bytes(os.urandom(3), 'big') << 8

    def receive(self, size):
        data = bytearray()
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise EOFError('the connection has ended')
            data += more
        return bytes(data)

    def call(self, program, procedure, arguments=b''):
        self.xid += 1
        name = b'gateway'
        credential = struct.pack('>I', 0) + opaque(name) + struct.pack('>III', 0, 0, 0)
        message = struct.pack('>6I', self.xid, 0, 2, program, 3, procedure) + struct.pack('>I', 1) + opaque(credential) \
            + struct.pack('>II', 0, 0) + arguments
        self.socket.sendall(struct.pack('>I', 0x80000000 | len(message)) + message)
        data = b''
        while True:
            mark, = struct.unpack('>I', self.receive(4))
            data += self.receive(mark & 0x7fffffff)
            if mark & 0x80000000:
                break
        reply = Reply(data)
        head = [reply.number() for _ in range(3)]
        if head != [self.xid, 1, 0]:
            raise ValueError(f'a Reply begins {head}')
        reply.number(), reply.bytes()
        if (status := reply.number()):
            raise ValueError(f'accept_stat {status}')
        return reply

    def nfs(self, procedure, arguments):
        reply = self.call(NFS, procedure, arguments)
        if (status := reply.number()):
            raise ValueError(f'nfsstat3 {status} to procedure {procedure}')
        return reply


class Client:
    def __init__(self):
        self.connection, self.next = None, 0

    def open(self, address, port, mount_address, mount_port, path, name):
        mount = Connection(mount_address, int(mount_port)).call(MOUNT, 1, opaque(path.encode()))
        if (status := mount.number()):
            raise ValueError(f'mountstat3 {status}')
        root = mount.bytes()
        self.connection = Connection(address, int(port))
        self.handle = self.connection.nfs(3, opaque(root) + opaque(name.encode())).bytes()
        return self.handle.hex()

    def getattr(self, count):
        for _ in range(int(count)):
            reply = self.connection.nfs(1, opaque(self.handle))
            reply.at += 20
            if (size := reply.number('>Q')) != FILE_BYTES:
                raise ValueError(f'the size is {size}')

    def place(self, size):
        """Returns the next offset. The number of offsets is a power of two, so an odd step reaches each of them."""
        step = max(size, STEP_BYTES)
        places = FILE_BYTES // step
        self.next += 1
        if self.next > places:
            raise ValueError('the file has no more places')
        return self.next * 1237 % places * step

    def read_at(self, size, offset):
        reply = self.connection.nfs(6, opaque(self.handle) + struct.pack('>QI', offset, size))
        reply.attributes()
        reply.number(), reply.number()
        if (data := reply.bytes()) != content(offset, size):
            raise ValueError(f'{len(data)} bytes at {offset} differ')

    def read(self, size, count):
        for _ in range(int(count)):
            self.read_at(int(size), self.place(int(size)))

    def sequential(self, size, count):
        for _ in range(int(count)):
            self.read_at(int(size), self.next)
            self.next += int(size)

    def again(self, size, count):
        for _ in range(int(count)):
            self.read_at(int(size), 0)

    def write(self, size, count, stable):
        size = int(size)
        for _ in range(int(count)):
            offset = self.place(size)
            reply = self.connection.nfs(7, opaque(self.handle) + struct.pack('>QII', offset, size, int(stable))
                                        + opaque(content(offset, size)))
            if reply.number():
                reply.at += 24
            reply.attributes()
            if (done := reply.number()) != size:
                raise ValueError(f'{done} bytes were written')
        if stable == '0':
            self.connection.nfs(21, opaque(self.handle) + struct.pack('>QI', 0, 0))

    def rewind(self):
        self.next = 0


def make(name):
    """Writes the file on the server's disk."""
    with open(name, 'wb') as file:
        for at in range(0, FILE_BYTES, 1 << 20):
            file.write(content(at, 1 << 20))


def main():
    if sys.argv[1] == 'make':
        return make(sys.argv[2])
    client = Client()
    with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listener:
        guest, _ = listener.accept()
    with guest, guest.makefile('rw') as lines:
        for line in lines:
            what, *arguments = line.split()
            try:
                said = f'done {getattr(client, what)(*arguments) or ""}'
            except (OSError, ValueError, EOFError, struct.error) as error:
                said = f'failed {what}: {error}'
            print(said, file=lines, flush=True)


if __name__ == '__main__':
    main()
