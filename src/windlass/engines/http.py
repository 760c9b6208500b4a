"""Openers of HTTP connections that follow no redirect and report every status as it is."""

from __future__ import annotations

import ssl
import urllib.request


def direct_opener(
    trust: ssl.SSLContext | None = None, proxy: str | None = None
) -> urllib.request.OpenerDirector:
    """Return an opener whose responses are those of the named server alone.

    A redirect would take credentials elsewhere, so it is a response like any other; so is a status of failure.
    Proxies of the environment do not count.

    Parameters
    ----------
    trust
        For ``https``: which certificates are trusted, and the client's own; the system's authorities by default.
    proxy
        URL of an HTTP proxy; by default connections are direct.

    Examples
    --------
    >>> direct_opener().open("ftp://host/")
    Traceback (most recent call last):
    urllib.error.URLError: <urlopen error unknown url type: ftp>
    """
    opener = urllib.request.OpenerDirector()
    proxies = {} if proxy is None else {"http": proxy, "https": proxy}
    for handler in (
        urllib.request.ProxyHandler(proxies),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=trust),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener
