"""Checkpoints of Lightning 0.7 to 1.9: read without running code they carry, and brought to today's form.

:mod:`~relight.old_checkpoints.migrations` has the steps from release to release,
:mod:`~relight.old_checkpoints.known_classes` what old files hold beside plain data, and
:mod:`~relight.old_checkpoints.upgrade` the command that rewrites files.
"""
