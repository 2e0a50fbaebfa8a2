"""Faults at the n-th file-system call of a process, of any thread and library in it: Linux asks us before each call.

A process that calls `intercept` has its calls that change files held by the kernel (seccomp user notification) until
`Overseer` lets them go on, makes them fail, or ends the process. So every place where a `kill -9` or a full disk can
strike is reached, also those within compiled libraries, which Python's audit events do not show.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import subprocess
import sys
from typing import Any

AT_FDCWD = -100
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# name: (number on x86_64, on aarch64, where its paths are: (folder argument or None, path argument), its file argument)
CALLS: dict[str, tuple[int | None, int | None, list[tuple[int | None, int]], int | None]] = {
    "open": (2, None, [(None, 0)], None),
    "openat": (257, 56, [(0, 1)], None),
    "creat": (85, None, [(None, 0)], None),
    "mkdir": (83, None, [(None, 0)], None),
    "mkdirat": (258, 34, [(0, 1)], None),
    "rename": (82, None, [(None, 0), (None, 1)], None),
    "renameat": (264, 38, [(0, 1), (2, 3)], None),
    "renameat2": (316, 276, [(0, 1), (2, 3)], None),
    "link": (86, None, [(None, 1)], None),
    "linkat": (265, 37, [(2, 3)], None),
    "write": (1, 64, [], 0),
    "pwrite64": (18, 68, [], 0),
    "writev": (20, 66, [], 0),
    "pwritev": (296, 70, [], 0),
    "copy_file_range": (326, 285, [], 2),
    "sendfile": (40, 71, [], 0),
    "ftruncate": (77, 46, [], 0),
    "truncate": (76, 45, [(None, 0)], None),
    "fallocate": (285, 47, [], 0),
    "fsync": (74, 82, [], 0),
    "fdatasync": (75, 83, [], 0),
    "unlink": (87, None, [(None, 0)], None),
    "unlinkat": (263, 35, [(0, 1)], None),
    "rmdir": (84, None, [(None, 0)], None),
    "chmod": (90, None, [(None, 0)], None),
    "fchmod": (91, 52, [], 0),
    "fchmodat": (268, 53, [(0, 1)], None),
    "read": (0, 63, [], 0),
    "pread64": (17, 67, [], 0),
}
READS = frozenset({"read", "pread64"})
REMOVALS = frozenset({"unlink", "unlinkat", "rmdir"})
TAKES_SPACE = frozenset(CALLS) - READS - REMOVALS - {"chmod", "fchmod", "fchmodat"}
MACHINE = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
SECCOMP = (317, 277)
# Once a call is announced only a kill ends its wait (Linux 5.19): any other signal is handled when it is done.
LISTEN, ONLY_KILLED, CONTINUE, NO_NEW_PRIVILEGES = 8, 32, 1, 38
NOTIFICATION, ANSWER = "QIIiIQ6Q", "QqiI"
RECEIVE, SEND = 0xC0502100, 0xC0182101


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class _Filter(ctypes.Structure):
    _fields_ = (("n", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def numbers(with_reads: bool) -> dict[int, str]:
    """The calls to be held, by their number on this machine."""
    if MACHINE is None:
        return {}
    held = {call[MACHINE]: name for name, call in CALLS.items() if with_reads or name not in READS}
    return {number: name for number, name in held.items() if isinstance(number, int)}


def can_intercept() -> bool:
    """Whether this system holds calls for another process; tried in a child, for it cannot be undone."""
    if not sys.platform.startswith("linux") or MACHINE is None:
        return False
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if _listen(numbers(False)) >= 0 else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def intercept(with_reads: bool, channel: socket.socket) -> None:
    """Have this process's calls held, and send the file that they are announced on."""
    listener = _listen(numbers(with_reads))
    socket.send_fds(channel, [b"x"], [listener])
    os.close(listener)


def _listen(held: dict[int, str]) -> int:
    assert MACHINE is not None
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    load, jump, end = 0x20, 0x15, 0x06
    program = [_Instruction(load, 0, 0, 0)]
    program += [_Instruction(jump, len(held) - i, 0, number) for i, number in enumerate(held)]
    program += [_Instruction(end, 0, 0, 0x7FFF0000), _Instruction(end, 0, 0, 0x7FC00000)]  # let go; announce
    array = (_Instruction * len(program))(*program)
    return int(library.syscall(SECCOMP[MACHINE], 1, LISTEN | ONLY_KILLED, ctypes.byref(_Filter(len(program), array))))


class Overseer:
    """Counts the steps of a process in a folder, and lets its fault strike at one of them.

    A fault has a `folder` and a `step`, and one of: `signal`, sent before that step, which all but SIGKILL let finish;
    `error`, a number that this call fails with; `command`, run before the step. With `always` it strikes at every later
    step too. `only` restricts steps to some calls.
    """

    def __init__(self, process: int, listener: int, fault: dict[str, Any]) -> None:
        self.process, self.listener, self.fault = process, listener, fault
        self.folder = os.path.realpath(fault["folder"])
        self.names = numbers(bool(fault.get("with_reads")))
        self.seen: list[str] = []
        self._only = set(fault.get("only") or set(CALLS) - READS)

    def oversee(self) -> None:
        """Answer every call until the process is gone."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        while not any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
            notification = bytearray(struct.calcsize(NOTIFICATION))
            try:
                fcntl.ioctl(self.listener, RECEIVE, notification)
            except OSError:  # the process is gone already
                continue
            cookie, thread, _, number, _, _, *arguments = struct.unpack(NOTIFICATION, notification)
            self._answer(cookie, thread, self.names[number], arguments)
        os.close(self.listener)

    def _answer(self, cookie: int, thread: int, name: str, arguments: list[int]) -> None:
        sent = failure = 0
        if self._is_step(thread, name, arguments):
            self.seen.append(name)
            step, always = self.fault["step"], self.fault.get("always")
            if len(self.seen) - 1 == step or (always and len(self.seen) > step >= 0):
                sent, failure = self.fault.get("signal", 0), self.fault.get("error", 0)
                if "command" in self.fault:
                    subprocess.run(self.fault["command"], check=True)
        if sent:
            os.kill(self.process, sent)
        answer = bytearray(struct.pack(ANSWER, cookie, 0, -failure, 0 if failure else CONTINUE))
        try:
            fcntl.ioctl(self.listener, SEND, answer)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINPROGRESS):
                raise

    def _is_step(self, thread: int, name: str, arguments: list[int]) -> bool:
        if name not in self._only:
            return False
        flags = {"open": 1, "openat": 2}.get(name)
        if flags is not None and not arguments[flags] & WRITES:
            return False
        try:
            paths = self._paths(thread, name, arguments)
        except OSError:
            return False
        return any(path == self.folder or path.startswith(self.folder + "/") for path in paths)

    def _paths(self, thread: int, name: str, arguments: list[int]) -> list[str]:
        _, _, places, file = CALLS[name]
        if file is not None:
            return [os.readlink(f"/proc/{thread}/fd/{arguments[file]}")]
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
            return [self._path(thread, memory, folder, path, arguments) for folder, path in places]

    @staticmethod
    def _path(thread: int, memory: Any, folder: int | None, path: int, arguments: list[int]) -> str:
        memory.seek(arguments[path])
        text = b""
        while b"\0" not in text and len(text) < 4096:  # up to the end of a page, for the next may not be there
            text += memory.read(4096 - (arguments[path] + len(text)) % 4096)
        number = AT_FDCWD if folder is None else ctypes.c_int(arguments[folder]).value
        here = f"/proc/{thread}/cwd" if number == AT_FDCWD else f"/proc/{thread}/fd/{number}"
        return os.path.normpath(os.path.join(os.readlink(here), os.fsdecode(text.split(b"\0")[0])))


def receive(process: int, channel: socket.socket, fault: dict[str, Any]) -> Overseer:
    """Take over the calls of a process that called `intercept`."""
    _, listeners, _, _ = socket.recv_fds(channel, 1, 1)
    channel.close()
    return Overseer(process, listeners[0], fault)
