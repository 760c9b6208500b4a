"""The pages of the control plane: a process of its own that reads the journal, and cannot change it.

- :mod:`~windlass.control.web.process`: the process: its arguments, and its end with that of its parent.
- :mod:`~windlass.control.web.server`: HTTP by uvicorn on a listening socket.
- :mod:`~windlass.control.web.app`: the ASGI application: which page answers which path.
- :mod:`~windlass.control.web.access`: which requests are refused: foreign hosts and origins, missing tokens.
- :mod:`~windlass.control.web.request`: a request's headers and query, with limits.
- :mod:`~windlass.control.web.forms`: bodies of requests, with limits.
- :mod:`~windlass.control.web.stream`: Server-Sent Events on changes of the journal.
- :mod:`~windlass.control.web.metrics`: the journal's numbers for Prometheus.
- :mod:`~windlass.control.web.html`: HTML in which all text is escaped.
- :mod:`~windlass.control.web.pages`: the pages. ``static/`` has the style sheet, the script and the icon.
"""
