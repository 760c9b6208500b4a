"""HTTP openers that follow no redirects and return every response, whatever its status."""

from __future__ import annotations

import ssl
import urllib.request


def direct_opener(
    trust: ssl.SSLContext | None = None, proxy: str | None = None
) -> urllib.request.OpenerDirector:
    """Return an opener that follows no redirects and returns every response, whatever its status.

    A redirect could send credentials to another server, so it is returned like any other response, as are error
    statuses. Proxy settings of the environment are ignored.

    Parameters
    ----------
    trust
        TLS context for ``https``: the trusted certificates and the client's own; by default the system's authorities.
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
