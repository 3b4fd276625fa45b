"""trainer-upgrade: move a project from PyTorch Lightning 0.7-1.9 to a modern Trainer.

The package never imports torch, so that a CI job or a pre-commit hook starts fast and stays small.
"""

__all__ = ["__version__"]

__version__ = "0.1.0.dev0"
