"""The parts that a server loads at its start: those of worlds, and rows for messages. It imports others when needed.

`app.py` has the list of everything that is served, and takes from here what both need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.journal import CODE
from sendbox.engine.kinds.logged import LOGGED as OF_ENGINE
from sendbox.server.application import Application
from sendbox.server.gateway import Emulated
from sendbox.services.account.account import Account
from sendbox.services.coverage.denied import denied
from sendbox.services.http import rest
from sendbox.services.http.desk import Desk
from sendbox.services.http.paths import Paths
from sendbox.services.messaging.checks import LOGGED as OF_MESSAGES
from sendbox.services.messaging.http.links import LINK
from sendbox.services.messaging.http.rest.uploads import UPLOAD
from sendbox.services.messaging.http.sending import errors as sending
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import CALLS, EMULATED
from sendbox.services.partner.partner import Partner
from sendbox.services.verify.http import errors as verify_errors
from sendbox.services.verify.verify import Verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from sendbox.contract.validators import Contract
    from sendbox.control.operation import Served
    from sendbox.engine.coverage import Catalog
    from sendbox.engine.part import Part
    from sendbox.runtime.worlds import Runtime
    from sendbox.services.http.exchange import Route

#: The parts of all services, in the order in which a world opens them.
PARTS: Final[tuple[type[Part], ...]] = (Account, Messaging, Verify, Partner)
#: The interfaces; one comes before another whose paths include its own.
INTERFACES: Final = (sending.INTERFACE, verify_errors.INTERFACE, rest.INTERFACE)
UPLOADS: Final = (UPLOAD,)
LINKS: Final = (LINK,)
#: The lines of the log, by the code of the entry.
LOGGED: Final = {CODE[kind]: lines for kind, lines in {**OF_ENGINE, **OF_MESSAGES}.items()}


def other_rows() -> tuple[Route, ...]:
    """The rows of the interfaces but for those of messages."""
    from sendbox.services.account.http.routes import ROUTES as ACCOUNT
    from sendbox.services.messaging.http.accepting import send_template
    from sendbox.services.messaging.http.legacy import ROUTES as LEGACY
    from sendbox.services.messaging.http.rest.routes import ROUTES as ROWS
    from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
    from sendbox.services.partner.http.routes import routes as partner_routes
    from sendbox.services.verify.http.routes import ROUTES as VERIFY

    return (*SIMPLE, *LEGACY, *ROWS, *ACCOUNT, *VERIFY, *partner_routes(send_template))


def rows() -> list[Route]:
    """All rows, in the order in which they are listed."""
    return sorted((*SENDING, *other_rows()), key=lambda route: EMULATED.index(route.operation))


def make_server(runtime: Runtime, contract: Contract, served: Callable[[], Served]) -> Application:
    """The application of `app.make_app` for one runtime, of which only the rows for messages are loaded yet.

    `served` imports all that is served; what can take that long is called beside the event loop.
    """
    paths = Paths(SENDING, (CALLS[name].path for name in EMULATED), other_rows)
    runtime.desk = desk = Desk(contract, paths, INTERFACES, UPLOADS, LINKS)
    runtime.load_language = lambda: served().language
    runtime.tried.item_of = denied
    runtime.logged = LOGGED
    emulated = Emulated(runtime, desk)

    def make_tools() -> Any:
        from sendbox.control.beside.past import read
        from sendbox.tools import tools

        runtime.past = read
        return tools(runtime, contract, emulated, served())

    def tried() -> Catalog:
        from sendbox.control.catalog import catalog

        return catalog(served())

    runtime.tried.load = tried
    return Application(emulated, make_tools, runtime, later=True)
