"""The page Actions: what people requested, and forms to pause engines and to hold or release jobs.

A form leads to a dry run. Its page has a second form, with a ticket that carries out what was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windlass.control.actions.kinds import KINDS
from windlass.control.actions.messages import ActionReply, ActionRequest, EngineOffer, RequestKind
from windlass.control.journal import ActionRecord
from windlass.control.journal.actions import FAILED
from windlass.control.journal.reader import MOST as MOST_ROWS
from windlass.control.web.html import Markup, joined, tag
from windlass.control.web.pages.context import PageContext
from windlass.control.web.pages.layout import link, page, state_mark, table, zone_note
from windlass.control.web.request import BadRequestError, PageRequest
from windlass.control.words import clock_text
from windlass.model import InputError

#: Fields of the forms.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "/actions/preview": ("action", "engine", "job", "undoes", "reason", "token"),
    "/actions/carry-out": ("ticket",),
}
_ROWS, _LAST = 50, 2**63 - 1
_READ_ONLY = (
    "These pages change nothing. They have forms for actions if windlass serve runs with --act and --act-tokens. With"
    " --act alone, the command windlass act has the same actions."
)


def actions_page(request: PageRequest, context: PageContext) -> Markup:
    """Return the page: the actions so far, and forms if actions are possible."""
    before = request.number("before", 0, _LAST)
    rows = request.number("rows", 1, MOST_ROWS) or _ROWS
    found = context.reader.actions.latest(before=before, limit=rows + 1)
    offers = () if context.act is None else context.act(ActionRequest(RequestKind.OFFERS)).checked().offers
    forms = (
        [_engines(offers, context), _job_form(request, offers), _undo_form(request)]
        if offers
        else [tag("p", _READ_ONLY)]
    )
    older = found[rows - 1].number if len(found) > rows else None
    return page(
        "/actions",
        "Actions",
        *([] if before is not None else forms),
        zone_note([each.time for each in found[:rows]]),
        _table(found[:rows], bool(offers)),
        tag("nav", link("Older", "/actions", before=older), aria_label="Rows", class_="turns")
        if older
        else "",
        live=before is None,
    )


def posted_page(path: str, form: Mapping[str, str], context: PageContext) -> Markup:
    """Return the page after a form: the dry run of an action, or its outcome.

    Parameters
    ----------
    path
        A path of :data:`FIELDS`.
    form
        The fields of the form.
    context
        What pages may read; its ``act`` sends the request.

    Raises
    ------
    BadRequestError
        Actions are not possible here, or the request is refused.
    """
    if context.act is None:
        raise BadRequestError(
            403, "these pages change nothing; expected windlass serve with --act and --act-tokens"
        )
    try:
        if path == "/actions/carry-out":
            done = context.act(ActionRequest(RequestKind.CARRY_OUT, ticket=form.get("ticket", ""))).checked()
            return _done(done)
        return _preview(form, context.act(_requested(form)).checked())
    except InputError as error:
        raise BadRequestError(409, str(error).removeprefix("actions: ")) from error


def _requested(form: Mapping[str, str]) -> ActionRequest:
    number = form.get("undoes", "")
    if number and not (number.isascii() and number.isdecimal() and len(number) <= 18):
        raise BadRequestError(400, "the number of the action to undo is not a whole number")
    texts = {name: form.get(name, "") for name in ("action", "engine", "job", "reason", "token")}
    return ActionRequest(RequestKind.PREVIEW, undoes=int(number) if number else None, **texts)


def _preview(form: Mapping[str, str], found: ActionReply) -> Markup:
    number, names = form.get("undoes"), (form.get(name, "") for name in ("action", "engine", "job"))
    what = f"undo action {number}" if number else _words(*names)
    confirm = tag(
        "form",
        tag("input", type="hidden", name="ticket", value=found.ticket),
        tag("p", tag("button", "Carry out", type="submit")),
        tag("p", tag("a", "Cancel", href="/actions")),
        method="post",
        action="/actions/carry-out",
        aria_label="Carry out",
    )
    return page(
        "/actions",
        "Actions",
        tag("h2", f"Dry run: {what}"),
        tag("p", f"{found.text[:1].upper()}{found.text[1:]}.", class_="answer"),
        tag("p", f"Reason: {form.get('reason', '')}"),
        tag("p", "Nothing was changed yet. The dry run can be carried out once, within five minutes."),
        confirm,
        live=False,
    )


def _done(found: ActionReply) -> Markup:
    return page(
        "/actions",
        "Actions",
        tag("p", f"Action {found.number}: {found.text}.", class_="answer", role="status"),
        tag("p", tag("a", "All actions", href="/actions")),
        live=False,
    )


def _engines(offers: Sequence[EngineOffer], context: PageContext) -> Markup:
    options = [(name, each.engine) for each in offers for name in each.actions if not KINDS[name].of_job]
    shown = {each.status.engine: each.status.state for each in context.reader.engines()}
    states = [(each.engine, state_mark(shown.get(each.engine, "stopped"))) for each in offers]
    line = tag("p", *(joined(f"{engine} ", mark, " ") for engine, mark in states))
    forms = [
        _form(
            f"{name.capitalize()} {engine}",
            [_hidden("action", name), _hidden("engine", engine)],
            f"{name}-{engine}",
        )
        for name, engine in options
    ]
    return tag("section", tag("h2", "Engines"), line, *forms)


def _job_form(request: PageRequest, offers: Sequence[EngineOffer]) -> Markup:
    some = [each for each in offers if any(KINDS[name].of_job for name in each.actions)]
    if not some:
        return Markup("")
    names = list(dict.fromkeys(name for each in some for name in each.actions if KINDS[name].of_job))
    fields = [
        _choice("Engine", "engine", [each.engine for each in some], request.text("engine"), "job"),
        _typed("Job", "job", request.text("job"), "job"),
        _choice("Action", "action", names, None, "job"),
    ]
    kinds = tag(
        "ul",
        *(tag("li", f"{name}: {KINDS[name].summary[:1].lower()}{KINDS[name].summary[1:]}") for name in names),
    )
    return tag("section", tag("h2", "One job"), kinds, _form("Dry run of the action on a job", fields, "job"))


def _undo_form(request: PageRequest) -> Markup:
    number = request.text("undo")
    if number is None:
        return Markup("")
    field = _typed("Number of the action", "undoes", number, "undo")
    return tag("section", tag("h2", "Undo an action"), _form("Dry run of the undo", [field], "undo"))


def _form(label: str, fields: Sequence[Markup], place: str) -> Markup:
    """Return a form with a reason and a token; ``place`` makes the identifiers of its fields unique."""
    return tag(
        "form",
        *fields,
        _typed("Reason", "reason", None, place, required=True),
        _typed("Token", "token", None, place, kind="password", required=True),
        tag("p", tag("button", f"{label}…" if "ry run" not in label else label, type="submit")),
        method="post",
        action="/actions/preview",
        aria_label=label,
    )


def _hidden(name: str, value: str) -> Markup:
    return tag("input", type="hidden", name=name, value=value)


def _choice(label: str, name: str, values: Sequence[str], chosen: str | None, place: str) -> Markup:
    options = [tag("option", value, value=value, selected=value == chosen) for value in values]
    id_ = f"{place}-{name}"
    return tag("p", tag("label", label, for_=id_), tag("select", *options, name=name, id=id_))


def _typed(
    label: str, name: str, value: str | None, place: str, *, kind: str = "text", required: bool = False
) -> Markup:
    id_ = f"{place}-{name}"
    field = tag(
        "input",
        type=kind,
        name=name,
        id=id_,
        value=value,
        maxlength=500 if name == "reason" else 200,
        required=required,
        autocomplete="current-password" if kind == "password" else "off",
    )
    return tag("p", tag("label", label, for_=id_), field)


def _table(rows: Sequence[ActionRecord], acts: bool) -> Markup:
    return table(
        "Actions, the latest first",
        ("Number", "Time", "Action", "By", "Reason", "Outcome", "Undo"),
        [_row(each, acts) for each in rows],
        "No action is in the journal.",
    )


def _row(each: ActionRecord, acts: bool) -> tuple[str, ...]:
    undoes = "" if each.undoes is None else f" (undoes {each.undoes})"
    failed = (each.outcome or "").startswith(FAILED)
    if each.undone:
        undo: str = "undone"
    elif acts and not failed and each.action in KINDS:
        undo = link(f"Undo {each.number}", "/actions", undo=each.number)
    else:
        undo = "–"
    return (
        str(each.number),
        clock_text(each.time),
        f"{_words(each.action, each.job.engine, each.job.id)}{undoes}",
        each.by,
        each.reason,
        each.outcome or "under way",
        undo,
    )


def _words(action: str, engine: str, job: str) -> str:
    return f"{action} job {job} of {engine}" if job else f"{action} {engine}"
