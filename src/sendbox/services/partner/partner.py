"""Partner management: signups of a partner's clients, their business accounts and numbers (§4.3, §2.5).

A signup goes through the table `SIGNUP` of `services/partner/records.py`: by the steps of the hosted page, or at once
by a registration. Each of its states is reported to the partner (§6, A24). Its result, an account and a number, is
known to every call; the number is a sender of chatapp steps from then on. Templates are in
`services/partner/templates.py`, statistics in `services/partner/analytics.py`. It is long because the steps of a signup
belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import Events, Target
from sendbox.engine.draws import Chooser
from sendbox.engine.journal import CODE
from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.part import Part
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.numbers import notation
from sendbox.services.numbers.countries import codes
from sendbox.services.partner.records import (
    EVENTS,
    NUMBER,
    SIGNUP,
    BusinessAccount,
    BusinessNumber,
    Failure,
    Notice,
    Onboarding,
    Signup,
)
from sendbox.services.partner.rules import SignupRule, Signups
from sendbox.services.partner.templates import Templates, digits
from sendbox.services.ports import Key, PhoneContent, PhoneText, account_of

if TYPE_CHECKING:
    from sendbox.engine.blueprint import TimelineEntry


def calling_code(country: str | None, default: str) -> str:
    """The calling code of a country, given as calling code or ISO code; `default` if the country is not known."""
    code_or_iso = (country or "").strip().lstrip("+").upper()
    return next((code for code, row in codes().items() if code_or_iso in (code, row.country)), default)


def iso_of(code: str) -> str:
    """The ISO code of the country of a calling code."""
    return codes()[code].country


def pick_from_pool(taken: Collection[str | None], chooser: Chooser, code: str, key: str) -> str:
    """A number from the pool of a country that is not `taken`.

    Drawn from the seed, not from the world's name: equal signups get equal numbers in every world.
    """
    first = 10 ** (max(codes()[code].lengths) - 2)  # the least number that has as many digits as remain
    n = 0
    while True:
        draw = chooser.scoped("pool", f"{code}\0{key}", n, 16)
        phone = draw.digits(first, 10 * first - 1, "number", f"{code}9")
        if phone not in taken:
            return phone
        n += 1


def pick_assigned(
    taken: Collection[str | None], signups: Iterable[Signup], numbers: frozenset[str], client_id: str | None
) -> str:
    """A number that the client has: pre-assigned by an earlier signup, else one of the account.

    Raises `Failure` when none is free.
    """
    earlier = [
        signup.phone_number
        for signup in signups
        if signup.mode == "preassign" and signup.client_id == client_id and client_id is not None
    ]
    for phone in (*reversed(earlier), *sorted(numbers)):
        if phone is not None and phone not in taken:
            return phone
    who = "this client" if client_id is None else f'"{client_id}"'
    text = f"no number is assigned to {who}; pre-assign one, or give the account one"
    raise Failure(text, "$.phone_number", "assigned", assumed="A38")


#: The sender of a verification code.
CODE_SENDER: Final = "Chatapp"
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH: Final = 10


class Partner(Part):
    """Partner management of one world. Built after the account."""

    NAME: ClassVar[str] = "partner"
    EVENTS: ClassVar[Events] = EVENTS
    LAPSES: ClassVar[frozenset[str]] = frozenset({"token"})

    def __init__(self, world: World) -> None:
        self._world = world
        self._account = account_of(world)
        #: every number of every business account by its Phone Number ID; they can send (A44)
        self.numbers: dict[str, BusinessNumber] = {}
        self._account.business = self.numbers
        self.signups: dict[str, Signup] = {}
        self.accounts: dict[str, BusinessAccount] = {}
        #: texts on handsets that are not messages of the account
        self.notices: list[Notice] = []
        self.templates = Templates(world)
        self._rules = Signups(world.blueprint.compiled["partner"].signups, world.chooser, world.start)
        self._codes: dict[str, int] = {}
        for spec in world.blueprint.compiled["partner"].accounts:
            account = self._add_account(spec.id, spec.name, spec.client_id, None)
            for row in spec.numbers:
                number = self._add_number(account, row.id, row.phone_number, row.name or spec.name)
                number.status, number.quality = row.status, row.quality

    # -- signup

    def sign_up(
        self,
        mode: str,
        client_id: str | None,
        details: dict[str, str],
        callback_url: str | None,
        key: Key,
        content: bytes,
    ) -> Signup:
        """Begins a signup (§4.3, A38). `content` names it: the request without callback. Raises `Failure`.

        Without a callback nothing is told of it.
        """
        world = self._world
        now = world.clock.now
        digest = blake2b(content, digest_size=16, person=b"partnerSignup").digest()
        n = world.count_equal(digest)
        drawn_name = world.name("signup", digest, n)
        signup_id = world.tag + "".join(_LETTERS[byte % len(_LETTERS)] for byte in drawn_name[:_LENGTH])
        secret = key.default_callback_secret or self._account.top.default_callback_secret
        target = None if callback_url is None else Target(callback_url, batch_size=1, secret=secret)
        outlet = None if target is None else world.outlets.line(target)
        expires = -(-(now + limits.TOKEN) // 1000) * 1000  # tokens count in whole seconds
        name, ordinal = f"{digest.hex()}:{n}", len(self.signups)
        signup = Signup(signup_id, name, key, mode, client_id, details, outlet, now, expires, ordinal)
        if mode == "preassign":
            signup.phone_number = pick_from_pool(
                self._promised, world.chooser, self._code_of(details.get("country")), signup.name
            )
        elif mode == "assigned":
            signup.phone_number = pick_assigned(self._taken, self.signups.values(), self._account.numbers, client_id)
        self.signups[signup_id] = signup
        world.timeline.lapse(signup.expires_at, "token", signup)
        self._tell(signup)
        return signup

    def valid(self, signup: Signup) -> bool:
        """True if the signup's token is still valid (§5.3, §8)."""
        return self._world.clock.now < signup.expires_at

    def on_lapse(self, kind: str, signup: Signup) -> bool:
        """The token of a signup has expired; True when that ended the signup, which is reported (A24, A46)."""
        if signup.ended or signup.finishing:
            return False
        self._enter(signup, "token_lapsed")
        return True

    def open(self, signup: Signup) -> None:
        """The client's browser shows the hosted page."""
        if signup.state == "created":
            self._enter(signup, "page_opened")

    def give_number(self, signup: Signup, phone_number: str | None, details: dict[str, str]) -> None:
        """The client says who it is, and which number it brings. Raises `Failure`.

        A code goes to a number that the client brings (mode `manual`); the service has confirmed the others itself.
        """
        self._expect(signup, "opened")
        if signup.mode == "manual":
            text = phone_number or ""
            try:
                number = notation.number(text, self._account.country)
            except ValueError as error:
                raise Failure(f'"{text}" {error}', "$.phone_number", "phone-number", "§7.3") from None
            self._free(number)
            signup.phone_number = number
        signup.details = {**signup.details, **{name: value for name, value in details.items() if value}}
        if signup.mode == "manual":
            self._send_code(signup)
        else:
            self._enter(signup, "number_confirmed")

    def change_number(self, signup: Signup) -> None:
        """The client wants to give another number than the one to which the code went. Raises `Failure`."""
        self._expect(signup, "opened")
        signup.code = signup.phone_number = None

    def resend_code(self, signup: Signup) -> None:
        """Sends the code again. Raises `Failure` if none was sent."""
        self._expect(signup, "opened")
        if signup.code is None:
            raise Failure("no code was sent yet; give a phone number first", "$.phone_number", "code")
        self._send_code(signup)

    def confirm(self, signup: Signup, code: str) -> None:
        """The client enters the code that came to its number. Raises `Failure`."""
        self._expect(signup, "opened")
        if signup.code is None or code.strip() != signup.code:
            raise Failure(f'"{code}" is not the code that was sent to the number', "$.code", "code", assumed="A46")
        signup.code = None
        self._enter(signup, "number_confirmed")

    def finish(self, signup: Signup) -> None:
        """The client has done its part: the provider connects the account, at once unless a rule delays it."""
        self._expect(signup, "number_verified")
        rule = self._rule(signup)
        after = self._rules.after(rule, signup.client_id)
        signup.finishing = True
        if after:
            self._world.timeline.at(self._world.clock.now + after, -1, self.finish_due, (signup, rule))
        else:
            self.finish_due((signup, rule))

    def finish_due(self, finished: tuple[Signup, SignupRule]) -> None:
        """The provider has answered."""
        signup, rule = finished
        if signup.ended:
            return
        if rule.result == "failed":
            self.fail(signup, rule.reason)
            return
        account_id = digits(self._world.name("waba", signup.name.encode()), 15)
        self._world.plain.setdefault(account_id, f"account {signup.name}")
        try:
            self._connect(signup, account_id, None, signup.phone_number or "")
        except Failure as failure:  # another signup took the number
            self.fail(signup, failure.message)

    def fail(self, signup: Signup, reason: str | None) -> None:
        """The signup fails. Raises `Failure` when it has ended already."""
        if signup.ended:
            raise Failure(f"the signup is {signup.state} already", "$.signup", "state", "§3.3", "A46")
        signup.reason = reason
        self._enter(signup, "broke_down")

    def complete(self, signup: Signup, phone_number: str | None = None, details: dict[str, str] | None = None) -> None:
        """All remaining steps of the hosted page in one act. Raises `Failure`."""
        self.open(signup)
        if signup.state == "opened":
            if signup.code is None:
                self.give_number(signup, phone_number, details or {})
            if signup.code is not None:
                self.confirm(signup, signup.code)
        self.finish(signup)

    def register(self, signup: Signup, account_id: str, number_id: str | None, country: str | None) -> BusinessNumber:
        """Completes a signup without the page (§4.3, A39). Raises `Failure`."""
        if signup.ended or signup.finishing:
            state = "being finished" if signup.finishing and not signup.ended else signup.state
            raise Failure(f"the signup is {state} already", "$.token", "state", "§3.3", "A46")
        rule = self._rule(signup)
        if rule.result == "failed":
            self.fail(signup, rule.reason)
            raise Failure(rule.reason or "The provider refused the registration", "$.code", "scenario", assumed="A39")
        phone = signup.phone_number
        if phone is None:
            code = self._code_of(country or signup.details.get("country"))
            phone = pick_from_pool(self._promised, self._world.chooser, code, number_id or signup.name)
        return self._connect(signup, account_id, number_id, phone)

    # -- accounts and numbers

    def account(self, account_id: str, signup: Signup | None = None) -> BusinessAccount:
        """A business account; with the signup of a token only one of that client. Raises `Failure`."""
        account = self.accounts.get(account_id)
        if account is None or not self._owns(signup, account):
            raise Failure(f'"{account_id}" is not a connected business account', "$.waba_id", "waba", assumed="A39")
        return account

    @property
    def all_rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The rules of reviews and of signups."""
        return {"partner.template_review": self.templates.reviews, "partner.signup": self._rules}

    def numbers_of(self, account: BusinessAccount) -> list[BusinessNumber]:
        """The numbers of a business account, in the order in which they were connected."""
        return [number for number in self.numbers.values() if number.account_id == account.id]

    def number_of(self, phone_number: str, signup: Signup | None = None) -> BusinessNumber | None:
        """The business number with this phone number, None if there is none or another client has it."""
        normalized = notation.normalize(phone_number, self._account.country)
        for number in self.numbers.values():
            if number.phone_number == normalized and self._owns(signup, self.accounts[number.account_id]):
                return number
        return None

    def _owns(self, signup: Signup | None, account: BusinessAccount) -> bool:
        """True if a token gives access to the account: it came from this signup, or from one of the same client."""
        if signup is None or signup.account is account:
            return True
        return signup.client_id is not None and signup.client_id == account.client_id

    def verify(self, phone_number: str, code: str | None, signup: Signup | None) -> None:
        """Sends a number's verification code again, or the one given (§4.3, A41). Raises `Failure`."""
        normalized = notation.normalize(phone_number, self._account.country)
        for pending in self.signups.values():
            reached = signup is None or pending is signup
            if reached and pending.code is not None and not pending.ended and pending.phone_number == normalized:
                pending.code = self._code_to(pending.phone_number or "", code)
                return
        self._code_to(self._known(phone_number, signup).phone_number, code)

    def check(self, phone_number: str, signup: Signup | None) -> None:
        """Raises `Failure` unless the number exists and is verified, so that it can be used (A41)."""
        number = self._known(phone_number, signup)
        if not number.sends:
            text = f'"{phone_number}" is {number.status} and cannot be used'
            raise Failure(text, "$.phone_number", "status", assumed="A41")

    def _known(self, phone_number: str, signup: Signup | None) -> BusinessNumber:
        number = self.number_of(phone_number, signup)
        if number is None:
            text = f'"{phone_number}" is not the number of a connected business account'
            raise Failure(text, "$.phone_number", "number", assumed="A41")
        return number

    def move_number(self, number: BusinessNumber, status: str | None, quality: str | None) -> None:
        """Moves a number by hand or by scenario. Raises `IllegalMove` (A44).

        Without a status a rating moves it too: RED flags a connected number, a better one removes the flag.
        """
        to = number.status if status is None else NUMBER.to(number.status, status)
        if status is None and quality == "RED" and to == "CONNECTED":
            to = NUMBER.after(to, "flagged")
        elif status is None and quality in ("GREEN", "YELLOW") and to == "FLAGGED":
            to = NUMBER.after(to, "recovered")
        number.status, number.quality = to, quality or number.quality
        self._note(number)

    def phones(self) -> Iterator[str]:
        """The numbers to which the provider sent a code."""
        return (notice.phone for notice in self.notices)

    def phone_content(self, number: str) -> PhoneContent:
        """The codes of the provider that came to a phone, as texts."""
        return PhoneContent(
            texts=[
                PhoneText(notice.at, notice.sender, notice.body) for notice in self.notices if notice.phone == number
            ]
        )

    # -- what a scenario's timeline does

    def _template(self, entry: TimelineEntry) -> None:
        """Carries out an entry `template` of the timeline; a move that the table forbids is left out and journaled."""
        change = entry.what
        names = Pattern(change["name"])
        for record in self._account.templates:
            if names.matches(record["name"]) and change.get("language") in (None, record["language"]):
                with self._noting("template", record["name"]):
                    self.templates.set_status(record, change["status"], change.get("reason"))

    def _number(self, entry: TimelineEntry) -> None:
        """The same for an entry `number`."""
        change = entry.what
        phones = Pattern(change["phone_number"], digits=True)
        for number in self.numbers.values():
            if phones.matches(number.phone_number):
                with self._noting("number", number.phone_number):
                    self.move_number(number, change.get("status"), change.get("quality"))

    TIMELINE_HANDLERS: ClassVar[Mapping[str, Callable[[Partner, TimelineEntry], None]]] = {
        "template": _template,
        "number": _number,
    }

    @contextmanager
    def _noting(self, kind: str, name: str) -> Iterator[None]:
        """Journals a move that the table forbids, in place of the move."""
        try:
            yield
        except IllegalMove as illegal:
            self._world.journal.add(self._world.clock.now, CODE[kind], {"name": name, "refused": str(illegal)})

    # -- inside

    def _rule(self, signup: Signup) -> SignupRule:
        rule, signup.order_sensitive = self._rules.of(
            signup.ordinal, signup.client_id, signup.mode, self._world.clock.now
        )
        return rule

    @staticmethod
    def _expect(signup: Signup, state: str) -> None:
        if signup.state != state or signup.finishing:
            current = "being finished" if signup.finishing and not signup.ended else signup.state
            raise Failure(f"the signup is {current}, and must be {state} for this", "$.signup", "state", "§3.3", "A46")

    def _connect(self, signup: Signup, account_id: str, number_id: str | None, phone: str) -> BusinessNumber:
        self._free(phone)
        if number_id in self.numbers:
            text = f'"{number_id}" is a number of another business account already'
            raise Failure(text, "$.phone_number_id", "taken", assumed="A39")
        connected = self.accounts.get(account_id)
        if connected is not None and connected.client_id != signup.client_id:
            text = f'"{account_id}" is the business account of another client already'
            raise Failure(text, "$.waba_id", "taken", assumed="A39")
        name = signup.details.get("name") or signup.details.get("partner_name") or "Client"
        account = connected or self._add_account(account_id, name, signup.client_id, signup.details.get("country"))
        number = self._add_number(account, number_id, phone, name)
        number.status = NUMBER.after(number.status, "registered")
        number.quality = "GREEN"
        signup.account, signup.number, signup.phone_number = account, number, phone
        self._note(number)
        self._enter(signup, "registered")
        return number

    def _add_account(self, account_id: str, name: str, client_id: str | None, country: str | None) -> BusinessAccount:
        world = self._world
        iso = iso_of(self._code_of(country))
        owner = digits(world.name("owner", account_id.encode()), 15)
        account = BusinessAccount(account_id, name, client_id, owner, self._account.currency, iso)
        self.accounts[account_id] = account
        return account

    def _add_number(self, account: BusinessAccount, number_id: str | None, phone: str, name: str) -> BusinessNumber:
        if number_id is None:
            number_id = digits(self._world.name("number", phone.encode()), 15)
            self._world.plain[number_id] = f"number {phone}"
        number = BusinessNumber(number_id, account.id, phone, name)
        self.numbers[number_id] = number
        return number

    @property
    def _taken(self) -> set[str | None]:
        """The phone numbers of all business numbers."""
        return {number.phone_number for number in self.numbers.values()}

    @property
    def _promised(self) -> set[str | None]:
        """Those, and the numbers that signups were promised."""
        return self._taken | {signup.phone_number for signup in self.signups.values()}

    def _free(self, phone: str) -> None:
        if phone in self._taken:
            text = f'"{phone}" is a number of a connected business account already'
            raise Failure(text, "$.phone_number", "taken", assumed="A39")

    def _code_of(self, country: str | None) -> str:
        return calling_code(country, self._account.country)

    def _send_code(self, signup: Signup) -> None:
        signup.code = self._code_to(signup.phone_number or "", None)

    def _code_to(self, phone: str, code: str | None) -> str:
        """Sends a code to a number's phone: the given one, or a drawn one."""
        world = self._world
        if code is None:
            n = self._codes.get(phone, 0)
            self._codes[phone] = n + 1
            code = world.chooser.scoped("number-code", phone, n).digits(0, 999_999, "code")
        world.timeline.at(world.clock.now, -1, self.code_due, (phone, code))
        return code

    def code_due(self, code_sent: tuple[str, str]) -> None:
        """A code arrives on a phone (A41)."""
        phone, code = code_sent
        world = self._world
        notice = Notice(world.clock.now, phone, CODE_SENDER, f"{code} is the code that confirms your number.")
        self.notices.append(notice)
        world.journal.add(world.clock.now, CODE["notice"], notice)

    def _enter(self, signup: Signup, event: str) -> None:
        signup.state = SIGNUP.after(signup.state, event)
        self._tell(signup)

    def _tell(self, signup: Signup) -> None:
        """Journals a state of a signup and tells the partner (§6, A24)."""
        world = self._world
        fields: JsonObject = {"partner_client_id": signup.client_id, "status": signup.state}
        if signup.account is not None:
            fields["chatapp_id"] = signup.account.id
        if signup.number is not None:
            fields["phone_number_id"] = signup.number.id
        if signup.phone_number is not None:
            fields["phone_number"] = signup.phone_number
        onboarding = Onboarding(signup, signup.notifications, fields)
        signup.notifications += 1
        entry = world.journal.add(world.clock.now, CODE["signup"], onboarding)
        if signup.order_sensitive:
            world.journal.mark(entry)
        if signup.outlet is not None:
            world.outlets.post(signup.outlet, onboarding)

    def _note(self, number: BusinessNumber) -> None:
        state = {
            "phone_number_id": number.id,
            "phone": number.phone_number,
            "status": number.status,
            "quality": number.quality,
        }
        self._world.journal.add(self._world.clock.now, CODE["number"], state)
