# SPDX-License-Identifier: Apache-2.0
"""Loading of the library of kernels, and the messages without it."""

import warnings

import pytest
from jaxframes.primitives import backend, kernels

library = kernels.base._library
load = library.load.__wrapped__


@pytest.fixture(autouse=True)
def native_is_asked_for(monkeypatch):
    monkeypatch.delenv("JAXFRAMES_KERNELS", raising=False)


def test_backend_says_which_kernels_serve_and_why():
    assert backend().cpu in ("native", "xla")
    assert backend().reason


def test_the_switch_turns_the_kernels_off(monkeypatch):
    monkeypatch.setenv("JAXFRAMES_KERNELS", "xla")
    assert load() == (
        None,
        library.Backend("xla", "JAXFRAMES_KERNELS=xla disables the C++ kernels."),
    )


def test_the_switch_knows_two_words(monkeypatch):
    monkeypatch.setenv("JAXFRAMES_KERNELS", "off")
    with pytest.raises(ValueError, match="JAXFRAMES_KERNELS") as raised:
        load()
    assert str(raised.value) == "JAXFRAMES_KERNELS must be 'native' or 'xla', got 'off'."


def test_without_a_library_the_portable_path_serves(monkeypatch):
    monkeypatch.setattr(library, "_find", lambda: None)
    assert load() == (
        None,
        library.Backend(
            "xla",
            "libjaxframes_kernels.so is not installed: no C++17 compiler was found during the "
            "installation. Install one and reinstall jaxframes.",
        ),
    )


def test_a_library_that_does_not_load_is_named(monkeypatch, tmp_path):
    broken = tmp_path / "libjaxframes_kernels.so"
    broken.write_text("not a library")
    monkeypatch.setattr(library, "_find", lambda: broken)
    loaded, serving = load()
    assert loaded is None
    assert serving.cpu == "xla"
    assert serving.reason.startswith("libjaxframes_kernels.so does not load: ")
    assert serving.reason.endswith(" Reinstall jaxframes.")


def test_a_missing_library_warns_once(monkeypatch):
    reason = "libjaxframes_kernels.so is not installed."
    monkeypatch.setattr(library, "load", lambda: (None, library.Backend("xla", reason)))
    library.warn_once.cache_clear()
    with pytest.warns(RuntimeWarning) as warned:
        assert not library.is_native()
    assert [str(warning.message) for warning in warned] == [
        "jaxframes: the portable XLA versions replace the C++ kernels. " + reason + " "
        "Set JAXFRAMES_KERNELS=xla to choose this and silence the warning."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not library.is_native()
