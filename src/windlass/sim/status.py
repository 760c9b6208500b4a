"""Status codes: why a compiled loop returned.

Every loop has these. A loop's own codes begin at :data:`FIRST_OWN` and are listed in its module.

==============  =======================================================================================
``REACHED``     all events before the given time are processed
``ALL_DONE``    all work has ended, whatever the time
``PAUSED``      the maximum number of steps is made; call again
``FULL``        an array has no room for what comes next; make some and call again
``POLICY_DUE``  a policy in Python must decide
==============  =======================================================================================
"""

REACHED, ALL_DONE, PAUSED, FULL, POLICY_DUE, FIRST_OWN = range(6)
