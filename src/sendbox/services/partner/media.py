"""Pictures in the head of a template: a data URL is uploaded and a handle takes its place (§4.3, §8, A76).

The picture itself is not kept. Checked are the kind, whether the bytes are of that kind, and the size.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Any, Final

from sendbox.services.partner.records import Failure

#: The largest picture, in bytes (§8).
LARGEST: Final = 5 * 1024 * 1024
#: How the files of each kind begin.
_BEGINS: Final = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/jpg": b"\xff\xd8\xff",
}
_FORM: Final = "legal: data:image/png;base64,… or data:image/jpeg;base64,… (§2.5)"


def with_handles(components: list[dict[str, Any]], path: str) -> list[dict[str, Any]]:
    """The components, each picture in them replaced by its `header_handle` (§4.3). Raises `Failure`."""
    return [_uploaded(component, f"{path}[{index}]") for index, component in enumerate(components)]


def _uploaded(component: dict[str, Any], path: str) -> dict[str, Any]:
    example = component.get("example")
    if not isinstance(example, dict) or "base64_image" not in example:
        return component
    handle = _handle(example["base64_image"], f"{path}.example.base64_image")
    rest = {name: value for name, value in example.items() if name != "base64_image"}
    return {**component, "example": {**rest, "header_handle": [handle]}}


def _handle(url: Any, path: str) -> str:
    """The handle of a picture. Raises `Failure` for other data, and for a picture that is too large."""
    head, comma, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    kind, _, encoding = head.removeprefix("data:").lower().partition(";")
    if not comma or not head.startswith("data:") or kind not in _BEGINS or encoding != "base64":
        quoted = f'"{url[:30]}…"' if isinstance(url, str) else "this value"
        raise Failure(f"{quoted} is not a data URL of a png or jpg picture; {_FORM}", path, "data-url", "§2.5")
    try:
        picture = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Failure(f"the data of this {kind} is not base64; {_FORM}", path, "base64", "§2.5") from None
    if len(picture) > LARGEST:
        text = f"{len(picture)} bytes are more than a picture may have, {LARGEST} (5 MB, §8)"
        raise Failure(text, path, "size", "§8")
    if not picture.startswith(_BEGINS[kind]):
        raise Failure(f"these {len(picture)} bytes are not of an {kind} file", path, "image", "§8", "A76")
    digest = blake2b(picture, digest_size=24).digest()
    return f"4::{urlsafe_b64encode(kind.encode()).decode()}:{urlsafe_b64encode(digest).decode()}"
