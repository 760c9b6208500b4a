"""The pages, each a function from a request and the journal to HTML.

- :mod:`~windlass.control.web.pages.layout`: what all pages share, and tables.
- :mod:`~windlass.control.web.pages.context`: what a page may read.
- :mod:`~windlass.control.web.pages.now`: what runs and what waits, with the reason.
- :mod:`~windlass.control.web.pages.when`: when waiting jobs start, and how good such predictions were.
- :mod:`~windlass.control.web.pages.last_day`: the last day replayed, compared with what happened.
- :mod:`~windlass.control.web.pages.what_if`: waits under another policy or size.
- :mod:`~windlass.control.web.pages.decisions`: the decisions, by engine, site, decision and job.
- :mod:`~windlass.control.web.pages.actions`: what people requested, with forms to request more.
- :mod:`~windlass.control.web.pages.machines`: the machines of each site.
- :mod:`~windlass.control.web.pages.health`: the engines, the journal, and errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windlass.control.web.html import Markup
from windlass.control.web.pages.actions import FIELDS, actions_page, posted_page
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.decisions import decisions_page
from windlass.control.web.pages.health import health_page
from windlass.control.web.pages.last_day import last_day_page
from windlass.control.web.pages.layout import refused_page
from windlass.control.web.pages.machines import machines_page
from windlass.control.web.pages.now import now_page
from windlass.control.web.pages.what_if import is_question, what_if_page
from windlass.control.web.pages.when import when_page
from windlass.control.web.request import PageRequest

#: The page of each path.
PAGES: Mapping[str, Callable[[PageRequest, PageContext], Markup]] = {
    "/": now_page,
    "/when": when_page,
    "/last-day": last_day_page,
    "/what-if": what_if_page,
    "/decisions": decisions_page,
    "/machines": machines_page,
    "/actions": actions_page,
    "/health": health_page,
}
#: Parameters of their queries.
PARAMETERS = frozenset(
    {"engine", "site", "decision", "job", "before", "rows", "policy", "procs", "without", "undo"}
)


def is_slow(request: PageRequest) -> bool:
    """Return whether the answer to a request takes long, so that one is made at a time, in a thread."""
    return request.path == "/last-day" or (request.path == "/what-if" and is_question(request))


__all__ = ["FIELDS", "PAGES", "PARAMETERS", "PageContext", "is_slow", "posted_page", "refused_page"]
