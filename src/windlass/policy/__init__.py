"""What every decision shares: the registry of its policies, and the loading of users' code.

- :mod:`~windlass.policy.registry`: the policies of one decision, by name.
- :mod:`~windlass.policy.context`: what an engine offers to the constructor of a policy.
- :mod:`~windlass.policy.discovery`: the classes that the files of a folder define.
- :mod:`~windlass.policy.nearest`: suggestions for misspelt names.
- :mod:`~windlass.policy.installed`: policies of installed packages, by the entry point group ``windlass.policies``.
- :mod:`~windlass.policy.answers`: the class of a policy's answer.
- :mod:`~windlass.policy.limit`: a time limit on code of a policy.
- :mod:`~windlass.policy.user_code`: policies from a user's file, and which line of it failed.
"""
