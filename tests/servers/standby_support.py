"""Describes what the servers of a store say of its manager, its standby, and of what happens to
them."""

import json

from stria_program import run
from waiting import wait_until


def status(store):
    return json.loads(run("status", "--json", store.url).stdout)


def role_of(store, index):
    return next(server.get("role", "") for server in status(store) if server["address"] == store.addresses[index])


def wait_for_standby(store, index):
    """It has every change, and the other servers know."""
    wait_until(lambda: role_of(store, index) == "standby with every change")
    others = [address for number, address in enumerate(store.addresses) if number != index]
    wait_until(lambda: all(figures_of(store, address)["standby_marks_in_step"] for address in others))


def figures_of(store, address):
    return next(server["figures"] for server in status(store) if server["address"] == address)


def address_url(store, index):
    return f"stria://{store.addresses[index]}"


def log_of(store, index):
    return (store.directory / f"server_{index}.log").read_text()
