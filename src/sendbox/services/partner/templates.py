"""Templates of business accounts: created, reviewed, edited, deleted (§4.3, A42, A43).

There is one list, the account's (`services/account/account.py`): what is created here is what `chatapp_template` steps
look up, once it is approved. A record with a `waba_id` belongs to that business account; those of the scenario have
none, are shown under every account, and every number may use them.

A data URL of a picture in a head is uploaded, and a handle takes its place (§8, A76). The picture itself is not kept;
checked are the kind, whether the bytes are of that kind, and the size.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import DAY
from sendbox.engine.journal import CODE
from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.assume import Assume
from sendbox.services.partner.library import components_of
from sendbox.services.partner.records import TEMPLATE, BusinessAccount, Failure
from sendbox.services.partner.rules import ReviewRule, Reviews
from sendbox.services.ports import account_of
from sendbox.services.templates.buttons import VARIABLE

Record = JsonObject

#: Parts of a template, each of which it has at most once.
PARTS: Final = ("HEADER", "BODY", "FOOTER", "BUTTONS", "CAROUSEL", "LIMITED_TIME_OFFER")
#: How often an approved template may be edited in how much time (A42).
EDITS: Final = ((1, DAY, "once in 24 hours"), (10, 30 * DAY, "ten times in 30 days"))


class Templates:
    """The templates of one world, as its business accounts see them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._account = account_of(world)
        self._plain = world.plain
        self._ids: dict[tuple[str, str, str], str] = {}
        self._made: dict[tuple[str, str, str], int] = {}
        #: id -> how often it was sent to review; only the newest review counts
        self._versions: dict[str, int] = {}
        #: id -> when it was edited while it was approved
        self._edits: dict[str, list[int]] = {}
        self.reviews = Reviews(world.blueprint.compiled["partner"].reviews, world.chooser, world.start)
        #: id -> why it has its status
        self.reasons: dict[str, str] = {}

    # -- reading

    def id_of(self, record: Record) -> str:
        """The id of a template: 16 digits, the same as long as it exists."""
        key = _key(record)
        template_id = self._ids.get(key)
        if template_id is None:
            n = self._made.get(key, 0)
            self._made[key] = n + 1
            owner = self._plain.get(key[0], key[0])
            name = "\0".join((owner, *key[1:]))
            template_id = self._ids[key] = digits(self._world.name("template", name.encode(), n), 16)
            self._plain[template_id] = f"template {owner} {key[1]} {key[2]} {n}"
        return template_id

    def of(self, account: BusinessAccount) -> list[Record]:
        """The templates of a business account, in the order in which they were made."""
        return [record for record in self._account.templates if record.get("waba_id") in (None, account.id)]

    def get(self, account: BusinessAccount, template_id: str, *, own: bool = False) -> Record:
        """A template of the account; with `own` only one that other accounts do not use. Raises `Failure`."""
        for record in self.of(account):
            if self.id_of(record) == template_id and ("waba_id" in record or not own):
                return record
        raise Failure(f'"{template_id}" is not a template of {account.id}', "$.template_id", "template")

    def by_id(self, template_id: str) -> Record | None:
        """A template of any account by its id."""
        return next((record for record in self._account.templates if self.id_of(record) == template_id), None)

    def status(self, record: Record) -> str:
        """The status of a record; a scenario may write it in lower case."""
        return str(record["status"]).upper()

    # -- changing

    def create(self, account: BusinessAccount, request: Record) -> Record:
        """A new template, `PENDING`, and its review (A43). Raises `Failure`."""
        name, language = request["name"], request["language"]
        if len(name) > limits.TEMPLATE_NAME:
            text = f"{len(name)} characters are too many for a template name; at most {limits.TEMPLATE_NAME} (§8)"
            raise Failure(text, "$.template.name", "name", "§8")
        if any((other["name"], other["language"]) == (name, language) for other in self.of(account)):
            text = f'"{name}" ({language}) is a template of {account.id} already'
            raise Failure(text, "$.template.name", "exists")
        _check(request["components"])
        record = {
            "name": name,
            "language": language,
            "category": request["category"],
            "status": "PENDING",
            "components": with_handles(request["components"], "$.template.components"),
            "waba_id": account.id,
        }
        self._account.set_templates((*self._account.templates, record))
        self._note(record)
        self._send_to_review(record)
        return record

    def create_from_library(self, account: BusinessAccount, request: Record) -> Record:
        """A template made from one of the provider's library (§4.3, A42). Raises `Failure`."""
        category, components = components_of(
            self._world.blueprint.compiled["partner"].library,
            request["library_template_name"],
            request.get("category"),
            request.get("library_template_button_inputs") or [],
        )
        return self.create(account, {**request, "category": category, "components": components})

    def edit(self, account: BusinessAccount, template_id: str, changes: Record, *, own: bool = False) -> Record:
        """Another category or other components: `PENDING` again, and another review. Raises `Failure`."""
        record = self.get(account, template_id, own=own)
        if not changes.keys() & {"category", "components"}:
            raise Failure("there is nothing to edit; give category or components", "$.template", "edit", assumed="A42")
        changed: Record = {name: changes[name] for name in ("category", "components") if name in changes}
        if "components" in changed:
            _check(changed["components"])
            changed["components"] = with_handles(changed["components"], "$.template.components")
        to = self._after(record, "edited")
        if self.status(record) == "APPROVED":
            self._count_edit(template_id)
        record = self._move(record, to, None, changed)
        self._send_to_review(record)
        return record

    def _count_edit(self, template_id: str) -> None:
        """An edit of an approved template. Raises `Failure` when there were as many as may be (A42)."""
        now = self._world.clock.now
        edits = self._edits.setdefault(template_id, [])
        for most, span, words in EDITS:
            if sum(at > now - span for at in edits) >= most:
                text = f"an approved template can be edited {words}, and this one was"
                raise Failure(text, "$.template_id", "edit-limit", assumed="A42")
        edits.append(now)

    def delete(self, account: BusinessAccount, name: str, *, own: bool = False) -> int:
        """Deletes a template in every language; returns how many there were. Raises `Failure` when there was none."""
        records = [record for record in self.of(account) if record["name"] == name and ("waba_id" in record or not own)]
        if not records:
            raise Failure(f'"{name}" is not a template of {account.id}', "$.template_name", "template")
        for record in records:
            self._drop(record)
        return len(records)

    def set_status(self, record: Record, status: str, reason: str | None = None) -> Record:
        """Moves a template by hand or by scenario. Raises `IllegalMove` (A43)."""
        to = TEMPLATE.to(self.status(record), status)
        if to == "DELETED":
            return self._drop(record)
        moved = self._move(record, to, reason, {})
        if to == "PENDING":
            self._send_to_review(moved)
        return moved

    def _after(self, record: Record, event: str) -> str:
        try:
            return TEMPLATE.after(self.status(record), event)
        except IllegalMove as illegal:
            raise Failure(str(illegal), "$.template_id", "status", "§3.3", "A43") from None

    def _move(self, record: Record, status: str, reason: str | None, changes: Record) -> Record:
        changed = {**record, **changes, "status": status}
        account = self._account
        account.set_templates(tuple(changed if other is record else other for other in account.templates))
        template_id = self.id_of(record)
        self._versions[template_id] = self._versions.get(template_id, 0) + 1  # reviews that have begun do not count
        self.reasons.pop(template_id, None)
        if reason is not None:
            self.reasons[template_id] = reason
        self._note(changed)
        return changed

    def _drop(self, record: Record) -> Record:
        deleted = {**record, "status": "DELETED"}
        account = self._account
        account.set_templates(tuple(other for other in account.templates if other is not record))
        template_id = self.id_of(record)
        self.reasons.pop(template_id, None)
        self._note(deleted)
        del self._ids[_key(record)]
        return deleted

    # -- review

    def _send_to_review(self, record: Record) -> None:
        """The review falls due after its delay (A43)."""
        world = self._world
        rule, after, order_sensitive = self.reviews.review(record, Assume.of(world).template_review, world.clock.now)
        template_id = self.id_of(record)
        version = self._versions.get(template_id, 0)
        world.timeline.at(world.clock.now + after, -1, self.review_due, (template_id, version, rule, order_sensitive))

    def review_due(self, review: tuple[str, int, ReviewRule, bool]) -> None:
        """A review has come to its end, unless the template was edited, moved or deleted meanwhile."""
        template_id, version, rule, order_sensitive = review
        record = self.by_id(template_id)
        if record is None or self._versions.get(template_id, 0) != version or self.status(record) != "PENDING":
            return
        event = "approved" if rule.result == "APPROVED" else "rejected"
        self._move(record, TEMPLATE.after(self.status(record), event), rule.reason, {})
        if order_sensitive:
            self._world.journal.mark(len(self._world.journal) - 1)

    def _note(self, record: Record) -> None:
        template_id = self.id_of(record)
        state = {
            "template_id": template_id,
            "name": record["name"],
            "language": record["language"],
            "category": record["category"],
            "status": record["status"],
            "reason": self.reasons.get(template_id),
            "components": record["components"],
        }
        self._world.journal.add(self._world.clock.now, CODE["template"], state)


def digits(raw: bytes, count: int) -> str:
    """A name as a number of `count` digits, the first of them not 0."""
    return f"{int.from_bytes(raw[:16], 'big') % (9 * 10 ** (count - 1)) + 10 ** (count - 1)}"


def _key(record: Record) -> tuple[str, str, str]:
    return str(record.get("waba_id") or ""), str(record["name"]), str(record["language"])


def _check(components: list[Record]) -> None:
    """A template has one body, each part once, and variables that a step can fill (§2.2, §2.5). Raises `Failure`."""
    path = "$.template.components"
    kinds = [str(component["type"]).upper() for component in components]
    for index, kind in enumerate(kinds):
        if kind not in PARTS:
            text = f'"{components[index]["type"]}" is not the type of a component; legal: {", ".join(PARTS)} (§2.5)'
            raise Failure(text, f"{path}[{index}].type", "component", "§2.5")
        if kind in kinds[:index]:
            raise Failure(f"{kind} is given twice; a template has it once (§2.5)", f"{path}[{index}]", "twice", "§2.5")
    if "BODY" not in kinds:
        raise Failure("no component is a BODY, which every template has (§2.5)", path, "body", "§2.5")
    at = kinds.index("BODY")
    body = components[at].get("text")
    if not isinstance(body, str) or not body.strip():
        raise Failure("the BODY has no text (§2.5)", f"{path}[{at}].text", "body", "§2.5")
    names = list(dict.fromkeys(VARIABLE.findall(body)))
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    if numbers and len(numbers) < len(names):
        text = "one text has numbered and named variables; use one kind (§2.2)"
        raise Failure(text, f"{path}[{at}].text", "variables", "§2.2")
    if numbers and numbers != list(range(1, len(numbers) + 1)):
        text = f"the variables {', '.join(map(str, numbers))} are not numbered from 1 on (§2.2)"
        raise Failure(text, f"{path}[{at}].text", "variables", "§2.2")


#: The largest picture, in bytes (§8).
LARGEST: Final = 5 * 1024 * 1024
#: How the files of each kind begin.
_BEGINS: Final = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/jpg": b"\xff\xd8\xff",
}
_FORM: Final = "legal: data:image/png;base64,… or data:image/jpeg;base64,… (§2.5)"


def with_handles(components: list[JsonObject], path: str) -> list[JsonObject]:
    """The components, each picture in them replaced by its `header_handle` (§4.3). Raises `Failure`."""
    return [_uploaded(component, f"{path}[{index}]") for index, component in enumerate(components)]


def _uploaded(component: JsonObject, path: str) -> JsonObject:
    example = component.get("example")
    if not isinstance(example, dict) or "base64_image" not in example:
        return component
    handle = _handle(example["base64_image"], f"{path}.example.base64_image")
    rest = {name: value for name, value in example.items() if name != "base64_image"}
    return {**component, "example": {**rest, "header_handle": [handle]}}


def _handle(url: object, path: str) -> str:
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
