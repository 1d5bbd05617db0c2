"""The reference of the package for Python: its own docstrings, which Sphinx reads."""

_CLASSES = [
    "File",
    "Dataset",
    "Group",
    "View",
    "Texts",
    "Attributes",
    "Elements",
    "Commit",
    "DistributedArray",
    "Reference",
    "Unreadable",
    "DatasetOptions",
    "HintWarning",
]
_FUNCTIONS = ["create", "open", "append", "write", "read", "inspect", "verify", "trace_table", "hint_problems"]
_FUNCTIONS += ["drain_staged", "remove_abandoned", "path_exists", "list_directory", "remove_file"]

PAGE = (
    "# Python: the package stria\n\n[Python](../python.md) is the introduction.\n\n```{eval-rst}\n"
    ".. automodule:: stria\n   :no-index:\n\n"
    + "".join(f".. autofunction:: stria.{name}\n\n" for name in _FUNCTIONS)
    + "".join(f".. autoclass:: stria.{name}()\n   :members:\n   :special-members: __getitem__\n\n" for name in _CLASSES)
    + ".. automodule:: stria.trace\n   :members:\n\n"
    + ".. automodule:: stria.errors\n   :members:\n   :show-inheritance:\n```\n"
)
