"""An extension of griffe, with which the reference of the site has all members of `Sandbox` and `Phone`.

Their source says `advance = blocking(AsyncSandbox.advance)`, which griffe reads as an attribute without a text. Here it
becomes what it is when it runs: a method, or a property, with the parameters and the text of the coroutine.
"""

from __future__ import annotations

from typing import Any

from griffe import Attribute, ExprCall, Extension, Function, GriffeLoader, Module


class Handles(Extension):
    """Takes the place of `same(…)`, `blocking(…)`, `block(…)` and `reading(…)` in `sendbox.fixture.sandbox`."""

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        """Called when all modules of a package are read."""
        if pkg.name != "sendbox":
            return
        for handle in pkg["fixture.sandbox"].classes.values():
            for name, member in list(handle.members.items()):
                made = getattr(member, "value", None)
                if isinstance(made, ExprCall) and str(made.function) in ("same", "blocking", "reading", "block"):
                    method = loader.modules_collection[made.arguments[0].canonical_path]
                    where = {"lineno": member.lineno, "endlineno": member.endlineno, "docstring": method.docstring}
                    if str(made.function) == "reading":
                        found = Attribute(name, annotation=method.returns, **where)
                        found.labels |= {"property"}
                    else:
                        found = Function(name, parameters=method.parameters, returns=method.returns, **where)
                    handle.set_member(name, found)
