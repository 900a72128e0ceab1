"""Templates of business accounts: created, reviewed, edited, deleted, and used by sends (§2.2, §4.3, A42, A43).

It is long because each is tried through the calls of a client.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from sendbox.engine.draws import Chooser
from sendbox.engine.durations import DAY, Span
from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.partner.http.templates import by_examples
from sendbox.services.partner.library import components_of
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Failure
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, ReviewRule, Reviews
from sendbox.services.partner.templates import LARGEST, with_handles
from sendbox.services.partner.views import template_view
from sendbox.services.templates.templates import check, compile_template
from tests.core.clients import BODY, connect, form, partner_world, send_template
from tests.core.worlds import HOUR, advance, journaled, make_world

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
SHARED = {
    "name": "otp", "language": "en", "category": "UTILITY", "status": "approved",
    "components": [{"type": "BODY", "text": "Code {{1}}"}],
}  # fmt: skip


def statuses(world: World) -> list[tuple[int, str]]:
    """(seconds, status) of every change of a template."""
    return [(at // 1000, change["status"]) for at, change in journaled(world, "template")]


def picture(data: bytes, kind: str = "image/png") -> list[dict[str, Any]]:
    """Components with a picture in the head."""
    url = f"data:{kind};base64,{b64encode(data).decode()}"
    return [{"type": "HEADER", "format": "IMAGE", "example": {"base64_image": url, "x": 1}}, BODY]


# --- lifecycle


def test_a43_created_pending_approved_after_a_delay() -> None:
    """A43: PENDING, then APPROVED; a send is rejected before, and goes out after (§2.2)."""
    world = partner_world()
    account, number = connect(world)
    record = Partner.of(world).templates.create(account, form())
    assert len(Partner.of(world).templates.id_of(record)) == 16
    early = send_template(world, number.id)
    advance(world, 10_000)
    late = send_template(world, number.id)
    advance(world, HOUR)
    assert (early.result, late.result) == ("rejected", "delivered")
    assert text_shown(late.attempts[0], Account.of(world)) == "Hello Jana"
    assert statuses(world) == [(0, "PENDING"), (10, "APPROVED")]


def test_a43_the_delay_is_a_setting() -> None:
    """A43: `template_review` is how long a review takes where no rule says."""
    world = partner_world(assume=Assume(template_review=0))
    account, _ = connect(world)
    Partner.of(world).templates.create(account, form())
    advance(world, 0)
    assert statuses(world) == [(0, "PENDING"), (0, "APPROVED")]


def test_reviews_are_counted_like_all_cases() -> None:
    """A review is a case of its own: rules with `nth` are a sequence, and `times` counts what was decided."""
    rules = [ReviewRule(key, When(nth=nth)) for key, nth in (("first", 1), ("second", 2))]
    book = Reviews([*rules, ReviewRule("twice", When(every=2), times=1)], Chooser(b"7"), 0)
    record = {"name": "otp", "language": "en", "category": "UTILITY"}
    assert [book.review(record, 0, 0)[0].key for _ in range(6)] == [
        "first",
        "second",
        "review",
        "twice",
        "review",
        "review",
    ]


def test_reviews_go_by_rules() -> None:
    """First match wins; what a rule says of name, language and category must all hold; a time may be drawn."""
    rules = (
        ReviewRule(
            "a", When(template=Pattern("promo_*")), after=Span(1000, 1000), result="REJECTED", reason="too loud"
        ),
        ReviewRule("b", When(language=Pattern("cs")), after=Span(2000, 3000)),
        ReviewRule("c", When(category="MARKETING"), after=Span(5000, 5000)),
    )
    world = partner_world(reviews=rules)
    account, _ = connect(world)
    for fields in (
        {"name": "promo_1"},
        {"name": "a", "language": "cs"},
        {"name": "b", "category": "MARKETING"},
        {"name": "c"},
    ):
        Partner.of(world).templates.create(account, form(**fields))
    advance(world, HOUR)
    ends = [(at, change["name"], change["status"], change["reason"]) for at, change in journaled(world, "template")][4:]
    assert ends[0] == (1000, "promo_1", "REJECTED", "too loud")
    assert 2000 <= ends[1][0] <= 3000
    assert [end[1:3] for end in ends[1:]] == [("a", "APPROVED"), ("b", "APPROVED"), ("c", "APPROVED")]
    assert (ends[2][0], ends[3][0]) == (5000, 10_000)


def test_a43_an_edit_is_reviewed_again() -> None:
    """A43: edited, it is PENDING again and refuses sends; the review that was under way counts no more."""
    world = partner_world()
    account, number = connect(world)
    templates = Partner.of(world).templates
    record = templates.create(account, form())
    template_id = templates.id_of(record)
    advance(world, 4000)
    changed = templates.edit(account, template_id, {"components": [{"type": "BODY", "text": "Bye {{1}}"}], "name": "x"})
    assert (changed["name"], changed["category"], templates.id_of(changed)) == ("hello", "UTILITY", template_id)
    advance(world, 9000)
    assert templates.status(templates.get(account, template_id)) == "PENDING"
    advance(world, 1000)
    templates.edit(account, template_id, {"category": "MARKETING"})
    waiting = send_template(world, number.id)
    advance(world, 10_000)
    after = send_template(world, number.id)
    advance(world, HOUR)
    assert (waiting.result, text_shown(after.attempts[0], Account.of(world))) == ("rejected", "Bye Jana")
    with pytest.raises(Failure, match="there is nothing to edit"):
        templates.edit(account, template_id, {"name": "x"})
    templates.set_status(templates.get(account, template_id), "DISABLED")
    with pytest.raises(Failure, match='"edited" does not follow "DISABLED" of a template'):
        templates.edit(account, template_id, {"category": "UTILITY"})


def test_a42_an_approved_template_is_edited_ten_times_in_thirty_days() -> None:
    """A42: once in 24 hours, ten times in 30 days; only accepted edits of an approved one count."""
    world = partner_world()
    account, _ = connect(world)
    templates = Partner.of(world).templates
    template_id = templates.id_of(templates.create(account, form()))

    def edit(text: str = "Bye {{1}}") -> str | None:
        try:
            templates.edit(account, template_id, {"components": [{"type": "BODY", "text": text}]})
        except Failure as failure:
            return failure.rule
        return None

    assert [edit(), edit()] == [None, None]  # it is PENDING
    advance(world, 10_000)
    for _ in range(10):
        assert [edit(" "), edit()] == ["body", None]
        advance(world, DAY)
    assert edit() == "edit-limit"
    advance(world, 20 * DAY - 1)
    assert edit() == "edit-limit"
    advance(world, 1)
    assert edit() is None


BUTTONS = {"type": "BUTTONS", "buttons": [
    {"type": "QUICK_REPLY", "text": "Yes"},
    {"type": "URL", "text": "Track", "url": "https://a.example/{{1}}", "example": ["https://a.example/17"]},
    {"type": "URL", "text": "Shop", "url": "https://a.example/{{1}}", "example": "spring"},
    {"type": "url", "text": "Home", "url": "https://a.example"},
]}  # fmt: skip


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ([], {}),
        ([{"type": "BODY", "text": "{{1}} {{2}}", "example": {"body_text": [["a", "b"], ["c"]]}}],
         {"params": ["a", "b"]}),
        ([{"type": "body", "text": "{{x}} {{y}}", "example": {"body_text": [["a", "b"]]}}],
         {"params": [{"x": "a"}, {"y": "b"}]}),
        ([{"type": "BODY", "text": "{{x}}", "example": {"body_text": [["a", "b"]]}}], {"params": ["a", "b"]}),
        ([{"type": "HEADER", "format": "TEXT", "text": "{{1}}", "example": {"header_text": ["Hi", "x"]}}],
         {"header": ["Hi"]}),
        ([{"type": "HEADER", "text": "Hi"}], {}),
        ([{"type": "HEADER", "format": "IMAGE", "example": {"header_handle": ["https://a.example/b.png"]}}],
         {"header": [{"image": {"link": "https://a.example/b.png"}}]}),
        ([{"type": "HEADER", "format": "DOCUMENT", "example": {"header_handle": ["4::a:b"]}}],
         {"header": [{"document": {"link": "https://media.chatapp.example/4::a:b", "filename": "4::a:b"}}]}),
        ([{"type": "HEADER", "format": "IMAGE"}], {}),
        ([BUTTONS], {"buttons": [None, "17", "spring", None]}),
    ],
)  # fmt: skip
def test_a42_examples_are_the_parameters_of_a_test(components: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    """A42: body_text, header_text, header_handle and the example of an address; what has none gets no value."""
    template = compile_template({"name": "a", "language": "en", "components": components})
    use = by_examples(template, components)
    assert {"params": use.params, "header": use.header, "buttons": use.buttons} == {
        "params": None, "header": None, "buttons": [], **expected,
    }  # fmt: skip
    complete = len(use.params or ()) == len(template.variables) and bool(use.header) == bool(template.header)
    assert (check(template, use) == []) == complete


def test_a42_delete_takes_every_language() -> None:
    """A42: gone from the list and for sends; a new one of that name is another template."""
    world = partner_world()
    account, number = connect(world)
    templates = Partner.of(world).templates
    first = templates.id_of(templates.create(account, form()))
    templates.create(account, form(language="cs"))
    advance(world, 5000)
    assert templates.delete(account, "hello") == 2
    advance(world, HOUR)  # the reviews come to nothing
    assert templates.of(account) == []
    gone = send_template(world, number.id)
    again = templates.create(account, form())
    assert templates.id_of(again) != first
    advance(world, HOUR)
    assert gone.result == "rejected"
    for call in (lambda: templates.delete(account, "x"), lambda: templates.get(account, first)):
        with pytest.raises(Failure, match="is not a template of"):
            call()
    assert templates.by_id(first) is None


def test_a_status_by_hand() -> None:
    """Any legal status; PENDING means another review, DELETED that it is gone; an illegal one raises (A43)."""
    world = partner_world()
    account, _ = connect(world)
    templates = Partner.of(world).templates
    record = templates.create(account, form())
    record = templates.set_status(record, "REJECTED", "by hand")
    assert template_view(world, record)["reason"] == "by hand"
    advance(world, HOUR)
    assert templates.status(templates.of(account)[0]) == "REJECTED"
    record = templates.set_status(record, "PENDING")
    assert template_view(world, record)["reason"] is None
    advance(world, HOUR)
    (record,) = templates.of(account)
    assert record["status"] == "APPROVED"
    with pytest.raises(IllegalMove):
        templates.set_status(record, "IN_APPEAL")
    assert templates.set_status(record, "DELETED")["status"] == "DELETED"
    assert templates.of(account) == []


def test_a_review_of_what_was_replaced_counts_for_nothing() -> None:
    """Templates that a tester replaced wholesale keep the status that they were given."""
    world = partner_world()
    account, _ = connect(world)
    record = Partner.of(world).templates.create(account, form())
    Account.of(world).set_templates(({**record, "status": "PAUSED"},))
    advance(world, HOUR)
    assert Partner.of(world).templates.status(Account.of(world).templates[0]) == "PAUSED"


# --- whose templates


def test_templates_of_the_scenario_belong_to_the_whole_account() -> None:
    """Every client may use them and the key may change them; a client's token changes its own only."""
    spec = PartnerSpec(accounts=(BusinessSpec("1", numbers=(NumberSpec("420777000600", "11"),)), BusinessSpec("2")))
    world = make_world(partner=spec, account=AccountSpec(templates=(SHARED,)))
    one, two = Partner.of(world).accounts["1"], Partner.of(world).accounts["2"]
    templates = Partner.of(world).templates
    shared = templates.id_of(templates.of(one)[0])
    assert templates.id_of(templates.of(two)[0]) == shared
    assert send_and_result(world, "11", "otp") == "delivered"
    for call in (
        lambda: templates.edit(one, shared, {"category": "MARKETING"}, own=True),
        lambda: templates.delete(one, "otp", own=True),
    ):
        with pytest.raises(Failure, match="is not a template of 1"):
            call()
    assert templates.edit(one, shared, {"category": "MARKETING"})["status"] == "PENDING"
    assert templates.delete(two, "otp") == 1
    assert SHARED["status"] == "approved"


def send_and_result(world: World, sender: str, name: str = "hello") -> str:
    """The result of a template sent from a number, an hour later."""
    message = send_template(world, sender, name)
    advance(world, HOUR)
    return message.result


def test_a_number_uses_its_own_account_s_templates() -> None:
    """Two clients may have templates of one name; another client's template is unknown to a number."""
    numbers = [(NumberSpec("420777000600", "11"),), (NumberSpec("420777000601", "22"),)]
    world = partner_world(accounts=(BusinessSpec("1", numbers=numbers[0]), BusinessSpec("2", numbers=numbers[1])))
    one, two = Partner.of(world).accounts["1"], Partner.of(world).accounts["2"]
    templates = Partner.of(world).templates
    templates.create(one, form())
    advance(world, 10_000)
    assert send_and_result(world, "11") == "delivered"
    assert send_and_result(world, "22") == "rejected"
    templates.create(two, form("hello", {"type": "BODY", "text": "Ahoj {{1}}"}))
    advance(world, 10_000)
    texts = []
    for sender in ("11", "22", "33"):  # the last one is no number of a client: it uses whichever there is
        message = send_template(world, sender)
        advance(world, HOUR)
        texts.append(text_shown(message.attempts[0], Account.of(world)))
    assert texts == ["Hello Jana", "Ahoj Jana", "Hello Jana"]


# --- forms


@pytest.mark.parametrize(
    ("fields", "path", "text"),
    [
        (form("x" * 101), "$.template.name", "101 characters are too many for a template name; at most 100 (§8)"),
        (form("a", {"type": "BODY"}), "$.template.components[0].text", "the BODY has no text"),
        (form("a", {"type": "BODY", "text": " "}), "$.template.components[0].text", "the BODY has no text"),
        (form("a", {"type": "FOOTER", "text": "x"}), "$.template.components", "no component is a BODY"),
        (form("a", BODY, {"type": "body", "text": "x"}), "$.template.components[1]", "BODY is given twice"),
        (form("a", BODY, {"type": "CODA"}), "$.template.components[1].type", '"CODA" is not the type of a component'),
        (
            form("a", {"type": "BODY", "text": "{{1}} {{a}}"}),
            "$.template.components[0].text",
            "one text has numbered and named",
        ),
        (form("a", {"type": "BODY", "text": "{{2}}"}), "$.template.components[0].text", "the variables 2 are not"),
    ],
)
def test_a_template_that_makes_no_sense(fields: dict[str, Any], path: str, text: str) -> None:
    """§2.2, §2.5: one body with text, no part twice, variables that a step can fill."""
    world = partner_world()
    account, _ = connect(world)
    with pytest.raises(Failure) as failure:
        Partner.of(world).templates.create(account, fields)
    assert failure.value.message.startswith(text)
    assert failure.value.path == path
    assert Account.of(world).templates == ()


def test_s8_a_name_of_100_characters_and_named_variables() -> None:
    """§8: the longest name is legal; names of variables need no order; a name stands once in a language."""
    world = partner_world()
    account, _ = connect(world)
    templates = Partner.of(world).templates
    templates.create(account, form("x" * 100, {"type": "BODY", "text": "{{b}} {{a}}"}))
    templates.create(account, form("y", {"type": "BODY", "text": "no variables"}))
    templates.create(account, form("y", language="cs"))
    with pytest.raises(Failure, match=r'"y" \(en\) is a template of .* already'):
        templates.create(account, form("y"))


# --- pictures


@pytest.mark.parametrize(("kind", "begin"), [("image/png", PNG), ("image/jpeg", JPEG), ("image/jpg", JPEG)])
def test_s4_3_a_picture_becomes_a_handle(kind: str, begin: bytes) -> None:
    """§4.3: the picture is replaced by a `header_handle`; equal pictures have equal handles."""
    (header, body) = with_handles(picture(begin + b"x", kind), "$")
    assert body == BODY
    assert header["example"].keys() == {"x", "header_handle"}
    (handle,) = header["example"]["header_handle"]
    assert handle.startswith("4::")
    assert with_handles(picture(begin + b"x", kind), "$")[0] == header
    assert with_handles(picture(begin + b"y", kind), "$")[0] != header


def test_s8_a_picture_of_5_mb() -> None:
    """§8: 5 MB are legal, a byte more is not."""
    with_handles(picture(PNG + bytes(LARGEST - len(PNG))), "$")
    with pytest.raises(Failure, match=r"5242881 bytes are more than a picture may have, 5242880 \(5 MB, §8\)"):
        with_handles(picture(PNG + bytes(LARGEST - len(PNG) + 1)), "$")


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://acme.example/a.png", '"https://acme.example/a.png…" is not a data URL'),
        ("data:image/gif;base64,AAAA", '"data:image/gif;base64,AAAA…" is not a data URL'),
        ("data:image/png,AAAA", "is not a data URL"),
        (5, "this value is not a data URL"),
        ("data:image/png;base64,A*A=", "the data of this image/png is not base64"),
        ("data:image/png;base64,AAA", "the data of this image/png is not base64"),
        ("data:image/png;base64,AAAA", "these 3 bytes are not of an image/png file"),
    ],
)
def test_what_is_no_picture(url: Any, text: str) -> None:
    """Another form, kind or content is refused, with the place of the value."""
    with pytest.raises(Failure) as failure:
        with_handles([BODY, {"type": "HEADER", "example": {"base64_image": url}}], "$.c")
    assert text in failure.value.message
    assert failure.value.path == "$.c[1].example.base64_image"


def test_an_edit_uploads_too() -> None:
    """An edit with a picture is treated as a creation."""
    world = partner_world()
    account, _ = connect(world)
    templates = Partner.of(world).templates
    record = templates.create(account, form("a", *picture(PNG)))
    changed = templates.edit(account, templates.id_of(record), {"components": picture(JPEG, "image/jpeg")})
    assert "header_handle" in changed["components"][0]["example"]
    assert changed["components"] != record["components"]


# --- the library


def test_a42_a_template_of_the_library() -> None:
    """A42: category and text of the library, the client's address and number in the buttons."""
    world = partner_world()
    account, _ = connect(world)
    inputs = [
        {"type": "PHONE_NUMBER", "phone_number": "+420900000001"},
        {"type": "URL", "url": {"base_url": "https://acme.example/", "url_suffix_example": "a"}},
    ]
    record = Partner.of(world).templates.create_from_library(
        account,
        {
            "name": "pay",
            "language": "en",
            "library_template_name": "payment_reminder",
            "library_template_button_inputs": inputs,
        },
    )
    assert (record["name"], record["category"], record["status"]) == ("pay", "UTILITY", "PENDING")
    assert record["components"][1]["buttons"] == [
        {"type": "URL", "text": "Pay now", "url": "https://acme.example/{{1}}"},
        {"type": "PHONE_NUMBER", "text": "Call us", "phone_number": "+420900000001"},
    ]
    assert len(inputs) == 2


OWN = (
    {"name": "mine", "category": "UTILITY", "components": [
        BODY, {"type": "BUTTONS", "buttons": [
            {"type": "URL", "text": "a", "url": "https://a.example"}, {"type": "URL", "text": "b"},
            {"type": "QUICK_REPLY", "text": "c"}]}]},
    {"name": "verify_code", "category": "MARKETING", "components": [{"type": "BUTTONS"}]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://b.example", "https://b.example"),
        ({"base_url": "https://b.example"}, "https://b.example"),
        ({"base_url": "https://b.example/{{1}}", "url_suffix_example": "x"}, "https://b.example/{{1}}"),
        ({"url_suffix_example": "x"}, "{{1}}"),
    ],
)
def test_a_library_of_the_scenario_s_own(url: Any, address: str) -> None:
    """The scenario's entries come before ours; a button that has its address needs no input."""
    category, components = components_of(OWN, "mine", "UTILITY", [{"type": "url", "url": url}])
    assert category == "UTILITY"
    assert [button.get("url") for button in components[1]["buttons"]] == ["https://a.example", address, None]
    assert components_of(OWN, "verify_code", None, [])[0] == "MARKETING"


@pytest.mark.parametrize(
    ("name", "category", "text"),
    [
        (
            "nothing",
            None,
            '"nothing" is not a template of the library; there are: mine, verify_code, delivery_update',
        ),
        ("mine", "MARKETING", '"MARKETING" is not the category of mine, which is UTILITY'),
        ("mine", None, 'the button "b" of type URL has no input; give {"type": "URL", "url": …}'),
    ],
)
def test_what_the_library_does_not_give(name: str, category: str | None, text: str) -> None:
    """An unknown name, another category, a button without its input."""
    with pytest.raises(Failure) as failure:
        components_of(OWN, name, category, [{"type": "PHONE_NUMBER", "phone_number": "1"}, {"type": "URL"}])
    assert failure.value.message.startswith(text)
