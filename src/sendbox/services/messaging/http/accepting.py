"""Messages that a call hands to its world."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from sendbox.engine.remarks import Finding
from sendbox.services.messaging.channels import TEMPLATED
from sendbox.services.messaging.http.advising import remark_accepted
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send, Step
from sendbox.services.messaging.records import Request

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange
    from sendbox.services.messaging.records import Accepted
    from sendbox.services.templates.templates import TemplateUse


class Remade(Request):
    """A request that makes again what is not kept of its call. `count` is how many ids its answer has.

    Kept, its canonical content and its answer would take a quarter of the memory of a request more.
    """

    __slots__ = ("count",)
    count: int

    @abstractmethod
    def content(self, body: bytes) -> bytes:
        """The canonical request without callback."""

    @abstractmethod
    def answer(self) -> bytes:
        """The answer, in which everything was accepted."""


def accept(exchange: Exchange, sends: list[Send], content: bytes, kind: type[Remade] | None = None) -> Accepted:
    """Hands decoded Message objects to the world, and leaves what came of it for the journal.

    `content` is the canonical request without callback: names are derived from it, and the digest reads it. It is not
    kept where a request of this `kind` makes it again from the body.
    """
    world, key = exchange.world, exchange.key
    exchange.uses("settings", world.id)
    if key.id != world.id:
        exchange.uses("settings", key.id)
    for send in sends:
        for step in send.steps:
            if step.template is not None:
                exchange.uses("template", step.template.name)
    record = exchange.record
    # of a null, a setting decides what was read (A56)
    request_type = Request if kind is None or b"null" in exchange.body else kind
    remarks = remark_accepted(world, sends, key)
    if remarks:
        exchange.advice += remarks
    phone = sends[0].recipients[0].number
    messaging = Messaging.of(world)
    accepted = messaging.accept(exchange.route.operation, sends, key, content, exchange.origin, record, request_type)
    if record is not None and isinstance(accepted.request, Remade):
        record.content = accepted.request
        for send in sends:
            send.share(exchange.body)
    for send in sends:
        send.recipients = ()  # the messages have what stands there
    exchange.content = content
    exchange.sent = accepted.request_id, phone
    if accepted.findings:
        exchange.findings = accepted.findings
    return accepted


def unpaid(exchange: Exchange, send: Send, assumed: str) -> Finding | None:
    """Why the credit does not suffice for a message whose answer says so at once; None where it does (A12, A13)."""
    if Messaging.of(exchange.world).can_pay([send], exchange.key):
        return None
    count = len(send.recipients)
    cost_text = f"{count} messages cost" if count > 1 else "1 message costs"
    return Finding("$", "credit", f"{cost_text} more than the account's credit (§4.1, {assumed})", "§4.1", assumed)


def send_template(exchange: Exchange, phone: str, use: TemplateUse, sender: str) -> Accepted:
    """Sends a template to one phone, through the simulator like any message: the port of partner management."""
    step = Step(TEMPLATED, None, sender, template=use, condition="delivered")
    return accept(exchange, [Send([Recipient(phone)], [step], tags=("transactional",))], exchange.content or b"")
