"""Shared by all decisions: registries of policies, and the loading of users' code.

- :mod:`~windlass.policy.registry`: the policies of one decision, by name.
- :mod:`~windlass.policy.addresses`: which policy makes a decision of which load at which site.
- :mod:`~windlass.policy.bounds`: policies that know what none can know, and cannot win.
- :mod:`~windlass.policy.context`: constructor arguments that an engine offers to a policy.
- :mod:`~windlass.policy.discovery`: discovery of the classes in a folder's files.
- :mod:`~windlass.policy.installed`: policies of installed packages, by the entry point group ``windlass.policies``.
- :mod:`~windlass.policy.answers`: check of the class of a policy's answer.
- :mod:`~windlass.policy.limit`: a time limit for a policy's code.
- :mod:`~windlass.policy.user_code`: policies from a user's file, and errors that name the failing line.
"""
