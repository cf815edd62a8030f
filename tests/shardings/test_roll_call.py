# SPDX-License-Identifier: Apache-2.0
"""Processes meet and compare their settings before JAX connects them; here each is a thread."""

import json
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from jaxframes.shardings import _roll_call
from jaxframes.shardings._roll_call import answer_roll, call_roll
from jaxframes.shardings._settings import disagreement
from jaxframes.shardings.launch import free_port

SETTINGS = {"jax": "0.10.2", "jax_enable_x64": "False"}
# An error comes long before.
TIMEOUT_SECONDS = 60


def meet(settings, timeout_seconds=TIMEOUT_SECONDS, num_processes=None, ids=None):
    """The outcome of each process: None, or the text of its error."""
    address = f"127.0.0.1:{free_port()}"
    count = num_processes or len(settings)
    counts = count if isinstance(count, list) else [count] * len(settings)

    def process(position):
        process_id = (ids or range(len(settings)))[position]
        try:
            if process_id == 0:
                call_roll(address, counts[0], settings[0], timeout_seconds)
            else:
                answer_roll(
                    address, counts[position], process_id, settings[position], timeout_seconds
                )
        except RuntimeError as error:
            return str(error)

    with ThreadPoolExecutor(len(settings)) as pool:
        return list(pool.map(process, range(len(settings)))), address


def test_processes_with_the_same_settings_go_on():
    assert meet([SETTINGS] * 5)[0] == [None] * 5


def test_the_address_is_free_again_at_once():
    address = f"127.0.0.1:{free_port()}"
    host, port = _roll_call.host_and_port(address)
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            peer = pool.submit(answer_roll, address, 2, 1, SETTINGS, TIMEOUT_SECONDS)
            call_roll(address, 2, SETTINGS, TIMEOUT_SECONDS)
            assert peer.result() is None
        socket.create_server((host, port)).close()


def test_every_process_names_the_setting_and_the_processes_that_differ():
    other = SETTINGS | {"jax": "0.12.0", "jax_enable_x64": "True"}
    said, _ = meet([SETTINGS, other, SETTINGS, other])
    message = (
        "initialize: all processes must have the same versions and settings, got jax: 0.10.2 in "
        "processes 0, 2 and 0.12.0 in processes 1, 3; jax_enable_x64: False in processes 0, 2 and "
        "True in processes 1, 3. Start all of them from the same environment."
    )
    assert said == [message] * 4


def test_a_setting_that_one_version_lacks():
    assert disagreement({0: {"a": "1"}, 1: {"a": "1", "b": "2"}}) == (
        "b: none in process 0 and 2 in process 1"
    )


def test_many_processes_are_counted():
    settings = {i: {"a": str(int(i > 0))} for i in range(12)}
    assert disagreement(settings) == (
        "a: 0 in process 0 and 1 in processes 1, 2, 3, 4, 5, 6, 7, 8 and 3 more"
    )


def test_a_process_that_does_not_start_is_named_by_all_others():
    started = time.monotonic()
    said, address = meet([SETTINGS] * 2, timeout_seconds=1, num_processes=4, ids=[0, 2])
    message = (
        "initialize: all 4 processes must start within 1 seconds, got none with process_id 1, 3. "
        f"Check that each runs, and can reach {address}."
    )
    assert said == [message] * 2
    assert time.monotonic() - started < 30


def test_two_processes_with_one_id():
    said, _ = meet([SETTINGS] * 3, num_processes=4, ids=[0, 1, 1])
    expected = (
        "initialize: each process must have its own process_id, got 1 twice. Number the processes "
        "from 0."
    )
    assert said[0] == expected
    # One of the two is answered; the other's connection was closed.
    assert expected in said[1:]
    assert None not in said


def test_other_numbers_of_processes():
    said, _ = meet([SETTINGS] * 2, num_processes=[2, 3])
    message = (
        "initialize: all processes must be given the same num_processes, got 2 in process 0 and 3 "
        "in process 1."
    )
    assert said == [message] * 2


def test_a_process_that_starts_again_takes_its_place():
    address = f"127.0.0.1:{free_port()}"
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(call_roll, address, 3, SETTINGS, TIMEOUT_SECONDS)
        hello = {
            "greeting": _roll_call._GREETING,
            "process_id": 1,
            "num_processes": 3,
            "settings": SETTINGS | {"jax": "of the one that ended"},
        }
        ended = _roll_call.connected(address, time.monotonic() + 60, 60)
        ended.sendall(json.dumps(hello).encode() + b"\n")
        ended.close()
        second = pool.submit(answer_roll, address, 3, 1, SETTINGS, TIMEOUT_SECONDS)
        answer_roll(address, 3, 2, SETTINGS, TIMEOUT_SECONDS)
        assert first.result() is None
        assert second.result() is None


@pytest.mark.parametrize(
    "said",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"{not json}\n",
        b'{"greeting": "jaxframes 0"}\n',
        b"[]\n",
    ],
)
def test_a_stranger_is_named_if_a_process_is_missing(said):
    address = f"127.0.0.1:{free_port()}"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(call_roll, address, 2, SETTINGS, 1)
        with _roll_call.connected(address, time.monotonic() + 60, 60) as stranger:
            stranger.sendall(said)
            message = (
                "initialize: all 2 processes must start within 1 seconds, got none with process_id "
                f"1. Check that each runs, and can reach {address}. Programs on 127.0.0.1 "
                "connected without shardings.initialize of this version of jaxframes."
            )
            with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
                first.result()


def test_who_connects_and_says_nothing_is_no_process():
    address = f"127.0.0.1:{free_port()}"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(call_roll, address, 2, SETTINGS, TIMEOUT_SECONDS)
        _roll_call.connected(address, time.monotonic() + 60, 60).close()
        answer_roll(address, 2, 1, SETTINGS, TIMEOUT_SECONDS)
        assert first.result() is None


def test_process_0_ends_while_another_waits():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"

        def end():
            connection, _ = listener.accept()
            connection.recv(1 << 16)
            connection.close()

        thread = threading.Thread(target=end)
        thread.start()
        message = (
            "initialize: process 0 must compare its settings with process 1, got no answer from "
            f"{address}. Check that it still runs, and that it calls shardings.initialize of the "
            "same version of jaxframes."
        )
        with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
            answer_roll(address, 2, 1, SETTINGS, TIMEOUT_SECONDS)
        thread.join()
