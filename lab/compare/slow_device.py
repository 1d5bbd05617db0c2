"""A device of limited speed: ext4 on a loop device whose image is in memory. The kernel's I/O
controller (cgroup version 1) holds back what any process writes to it. Needs root.

The kernel may charge a large write twice, so the device takes between half of the limit and all of
it; `limit-contig` of the FLASH benchmark shows what it takes."""

import os
import subprocess
import tempfile

CONTROL = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device"


def obstacle():
    """Why there can't be one here; None when there can."""
    if os.geteuid() != 0:
        return "a slow device needs root"
    if not os.access(CONTROL, os.W_OK):
        return "a slow device needs the I/O controller of cgroup version 1"
    return None


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


class SlowDevice:
    """`with SlowDevice(200, 4e9) as directory`: a directory on a device of at most 200 MB/s that
    has room for 4 GB. Raises OSError where the system refuses."""

    def __init__(self, megabytes_per_second, room_bytes):
        self.bytes_per_second = round(megabytes_per_second * 1e6)
        self.room_bytes = round(room_bytes)
        self.undo = []  # what __exit__ does, the last first

    def __enter__(self):
        try:
            return self.make()
        except BaseException:
            self.clear()
            raise

    def __exit__(self, *_):
        self.clear()

    def make(self):
        place = tempfile.TemporaryDirectory(prefix="stria-slow-", dir="/dev/shm")
        self.undo.append(place.cleanup)
        image = os.path.join(place.name, "image")
        directory = os.path.join(place.name, "mounted")
        os.mkdir(directory)
        with open(image, "wb") as file:
            file.truncate(self.room_bytes)
        run("mkfs.ext4", "-q", "-F", image)
        device = run("losetup", "--find", "--show", image)
        self.undo.append(lambda: run("losetup", "--detach", device))
        number = os.stat(device).st_rdev
        name = f"{os.major(number)}:{os.minor(number)}"
        self.limit(name, self.bytes_per_second)
        self.undo.append(lambda: self.limit(name, 0))  # none
        run("mount", device, directory)
        self.undo.append(lambda: run("umount", directory))
        return directory

    @staticmethod
    def limit(device_number, bytes_per_second):
        with open(CONTROL, "w", encoding="ascii") as control:
            control.write(f"{device_number} {bytes_per_second}\n")

    def clear(self):
        while self.undo:
            self.undo.pop()()
