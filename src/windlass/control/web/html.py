"""HTML in which all text is escaped: only :class:`Markup` is written as it is, and only :func:`tag` makes it."""

from __future__ import annotations

import html


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


#: Elements without an end tag.
_VOID = frozenset({"br", "input", "link", "meta"})


def tag(name: str, /, *children: str, **attributes: str | int | float | bool | None) -> Markup:
    """Return an element. Children that are not :class:`Markup`, and all values of attributes, are escaped.

    Parameters
    ----------
    name
        Name of the element.
    children
        Text or elements.
    attributes
        Attributes; a trailing ``_`` is dropped, and other ``_`` become ``-``. None and False leave an attribute out,
        True writes only its name.

    Examples
    --------
    >>> tag("a", "<script>", href='/?job="1"', class_="job", hidden=True, title=None)
    '<a href="/?job=&quot;1&quot;" class="job" hidden>&lt;script&gt;</a>'
    >>> tag("p", tag("b", "a & b"), " <c>")
    '<p><b>a &amp; b</b> &lt;c&gt;</p>'
    """
    text = f"<{name}"
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        written = key.removesuffix("_").replace("_", "-")
        text += f" {written}" if value is True else f' {written}="{html.escape(str(value))}"'
    if name in _VOID:
        return Markup(f"{text}>")
    return Markup(f"{text}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Return text and elements one after the other; text is escaped.

    >>> joined("a < b ", tag("i", "c"))
    'a &lt; b <i>c</i>'
    """
    return Markup("".join(map(escaped, children)))


def escaped(child: str) -> str:
    """Return text escaped, and an element as it is.

    >>> escaped("<"), escaped(tag("br"))
    ('&lt;', '<br>')
    """
    return child if isinstance(child, Markup) else html.escape(child)
