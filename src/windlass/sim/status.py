"""How a compiled loop tells its caller why it returned: status codes.

Every loop has these; what else can stop a loop is listed beside it, from :data:`FIRST_OWN` on.

============  =======================================================================================
``REACHED``   all that happens before the time that was asked for is done
``ALL_DONE``  all work has ended, whatever the time
``PAUSED``    as many steps as were asked for are made; call again
``FULL``      an array has no room for what comes next; make some and call again
``ASK``       a policy in Python is to be asked
============  =======================================================================================
"""

REACHED, ALL_DONE, PAUSED, FULL, ASK, FIRST_OWN = range(6)
