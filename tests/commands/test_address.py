"""Where commands look for a sandbox."""

from __future__ import annotations

import pytest

from sendbox.cli import address
from sendbox.cli.outcome import USAGE, Failure


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "http://127.0.0.1:7357"),
        ({"SENDBOX_PORT": "8000"}, "http://127.0.0.1:8000"),
        ({"SENDBOX_PORT": "tcp://10.0.0.1:7357"}, "http://127.0.0.1:7357"),
        ({"SENDBOX_TLS": "self"}, "https://127.0.0.1:7357"),
        ({"SENDBOX_TLS_CERT": "cert.pem", "SENDBOX_PORT": "443"}, "https://127.0.0.1:443"),
        ({"SENDBOX_HOST": "0.0.0.0"}, "http://127.0.0.1:7357"),
        ({"SENDBOX_HOST": "::1"}, "http://[::1]:7357"),
    ],
    ids=["nothing", "port", "kubernetes", "self-signed", "certificate", "every-address", "address"],
)
def test_default_follows_the_environment_of_serve(environment: dict[str, str], expected: str) -> None:
    """A health check in a container finds the server that was configured by the same environment."""
    assert address.default(environment) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:7357", "http://127.0.0.1:7357"),
        ("https://box.test/v2/?x=1", "https://box.test"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_origin_of_an_address(url: str, expected: str) -> None:
    """Any address of the sandbox names it; path and query are dropped."""
    assert address.origin(url) == expected


@pytest.mark.parametrize("url", ["", "localhost:7357", "ftp://box", "http://", "http://box:port", "http://[::1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    """An address that cannot be called is wrong use, and the message shows one that can."""
    with pytest.raises(
        Failure, match=r"is not an address over http or https: http://127\.0\.0\.1:7357 is one"
    ) as caught:
        address.origin(url)
    assert caught.value.code == USAGE
