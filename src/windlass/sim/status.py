"""How a compiled loop tells its caller why it returned: status codes.

Every loop has the first three; what else can stop a loop is listed beside it, from :data:`FIRST_OWN` on.

============  ================================================================
``PAUSED``    as many steps as were asked for are made; call again
``ALL_DONE``  all work has ended
``STUCK``     work is left, and nothing will ever happen again
============  ================================================================
"""

PAUSED, ALL_DONE, STUCK, FIRST_OWN = range(4)
