"""The partner management interface as rows (§4.3, base `{rest_url}` with its `/v1`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec.structs import replace

from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Exchange, Handler, Route, Tokens
from sendbox.services.http.rest import error
from sendbox.services.http.routing import RouteFamily
from sendbox.services.partner.http import analytics, signups, templates
from sendbox.services.partner.http.decode import Request, denial_answer, failure_answer, keyless_answer, read
from sendbox.services.partner.http.tokens import TOKENS
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure

#: Assumptions of every call here: statuses and failures, unknown fields, nulls, malformed JSON.
ASSUMED: Final = ("A37", "A56", "A57", "A75")


def _with_failures(handler: Callable[[Exchange, Request], Answer], missing: int) -> Handler:
    """The handler with the request that it is given, whose `Failure` is an answer too (A37)."""

    def answer(exchange: Exchange) -> Answer:
        try:
            return handler(exchange, read(exchange, missing))
        except Failure as failure:
            assumed = failure.assumed or "A37"
            exchange.findings = [Finding(failure.path, failure.rule, failure.message, failure.section, assumed)]
            return failure_answer(failure.message)

    return answer


def _with_account(
    handler: Callable[[Exchange, Request, BusinessAccount], Answer],
) -> Callable[[Exchange, Request], Answer]:
    """The handler with the business account that the request is about."""
    return lambda exchange, request: handler(
        exchange, request, Partner.of(exchange.world).account(request["waba_id"], exchange.bearer)
    )


#: What the rows have in common, with those that take no token of a client.
_FAMILY: Final = RouteFamily("§4.3", "partner.json", "PartnerError", error, denial_answer, ASSUMED)
_KEYED: Final = replace(_FAMILY, deny=keyless_answer)


def _row(
    operation: str,
    summary: str,
    handler: Callable[[Exchange, Request], Answer],
    request: str,
    response: str,
    assumed: tuple[str, ...],
    *,
    tokens: Tokens | None = TOKENS,
    missing: int = 400,
) -> Route:
    answering, request, response = _with_failures(handler, missing), f"{request}Request", f"{response}Response"
    errors = {400, missing}
    if tokens is None:
        return _KEYED.route(operation, summary, answering, request, response, *assumed, errors=errors)
    route = _FAMILY.route(operation, summary, answering, request, response, *assumed, errors=errors)
    return replace(route, auth="header-or-token", tokens=tokens)


def routes(send: templates.Sends) -> tuple[Route, ...]:
    """The rows; `send` is how a template is sent to be tested."""
    return (
    _row("partnerSignup", "Start the signup of a client", signups.sign_up, "Signup", "Signup",
         ("A24", "A38", "A46", "A86"), tokens=None),
    _row("partnerRegistration", "Complete a signup without the hosted page", signups.register,
         # as observed, though elsewhere a missing field is a 400 (A39)
         "Registration", "Registration", ("A24", "A39", "A46"), tokens=None, missing=401),
    _row("listPartnerAccounts", "List the connected business accounts", signups.list_accounts,
         "AccountsList", "AccountsList", ("A40",), tokens=None),
    _row("verifyPartnerNumber", "Send the verification code of a number again",
         signups.verify_number, "NumberVerify", "NumberVerify", ("A14", "A41")),
    _row("checkPartnerNumber", "Check whether a number can be used", signups.check_number,
         "Number", "NumberCheck", ("A14", "A41", "A44")),
    _row("listPartnerNumbers", "List the numbers of a business account", _with_account(signups.list_numbers),
         "BusinessAccount", "NumbersList", ("A44",)),
    _row("listTemplates", "List the templates of a business account", _with_account(templates.list_templates),
         "BusinessAccount", "TemplatesList", ("A42", "A43")),
    _row("createTemplate", "Create a template", _with_account(templates.create_template),
         "TemplateCreate", "TemplateCreate", ("A42", "A43", "A76")),
    _row("createLibraryTemplate", "Create a template from the provider's library",
         _with_account(templates.create_from_library), "TemplateLibrary", "TemplateLibrary", ("A42", "A43")),
    _row("editTemplate", "Change a template", _with_account(templates.edit_template),
         "TemplateEdit", "TemplateEdit", ("A42", "A43", "A76")),
    _row("deleteTemplate", "Delete a template in every language", _with_account(templates.delete_template),
         "TemplateDelete", "TemplateDelete", ("A42",)),
    _row("testTemplate", "Send a template to a phone as a test", _with_account(partial(templates.test_template, send)),
         "TemplateTest", "TemplateTest", ("A14", "A42")),
    _row("messageAnalytics", "Statistics of messages", analytics.message_statistics,
         "AnalyticsMessages", "AnalyticsMessages", ("A45",)),
    _row("conversationAnalytics", "Statistics of conversations",
         analytics.conversation_statistics, "AnalyticsConversations", "AnalyticsConversations", ("A45",)),
    _row("templateAnalytics", "Statistics of templates", analytics.template_statistics,
         "AnalyticsTemplates", "AnalyticsTemplates", ("A45",)),
    _row("enableTemplateAnalytics", "Enable statistics of templates",
         _with_account(analytics.enable_template_statistics), "BusinessAccount", "AnalyticsEnable", ("A45",)),
)  # fmt: skip
