"""Network namespaces that stand for machines."""

import os
import subprocess


class Machines:
    """So many machines on a network of their own, for as long as the `with` block runs.

    Without the right to make one, they share the network of this machine.
    """

    def __init__(self, count):
        # Names and addresses of this process, so that two runs at a time do not meet.
        self.name, network = f"agg{os.getpid() % 100000}", os.getpid() % 250 + 1
        self.bridge, self.network = f"{self.name}b", f"10.213.{network}"
        self.count, self.addresses = count, []

    @property
    def address(self):
        """The address of the services, for the machines."""
        return self.addresses[0] if self.addresses else "127.0.0.1"

    def prefix(self, number):
        """The words before a command line that run it on a machine."""
        return ["ip", "netns", "exec", f"{self.name}n{number}"] if self.addresses else []

    def __enter__(self):
        address = f"{self.network}.1"
        try:
            ip("link", "add", self.bridge, "type", "bridge")
            ip("address", "add", f"{address}/24", "dev", self.bridge)
            ip("link", "set", self.bridge, "up")
            for number in range(self.count):
                space, ours, theirs = (f"{self.name}{letter}{number}" for letter in "nvw")
                ip("netns", "add", space)
                ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
                ip("link", "set", ours, "master", self.bridge, "up")
                ip("link", "set", theirs, "netns", space)
                ip("-n", space, "address", "add", f"{self.network}.{number + 2}/24", "dev", theirs)
                ip("-n", space, "link", "set", theirs, "up")
                ip("-n", space, "link", "set", "lo", "up")
            self.addresses = [address]
        except (OSError, subprocess.CalledProcessError):
            self.__exit__()
        return self

    def __exit__(self, *_):
        for number in range(self.count):
            # A namespace takes its end of the cable along, and so the other one.
            ip("netns", "delete", f"{self.name}n{number}", check=False)
        ip("link", "delete", self.bridge, check=False)


def ip(*words, check=True):
    try:
        subprocess.run(["ip", *words], check=check, capture_output=True)
    except OSError:
        if check:
            raise
