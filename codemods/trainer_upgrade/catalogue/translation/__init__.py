"""The rules that turn legacy Trainer arguments into modern ones, one idea a module.

Each rule takes the legacy arguments it understands out of a :class:`~.draft.Draft` and says there what takes
their place, in the names of Lightning 2.6. :mod:`~.relight` then spreads those names over relight's slimmer
constructor, its entry points, callbacks and plugins. Entry point: :mod:`trainer_upgrade.catalogue.translate`.
"""
