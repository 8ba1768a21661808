"""The folder in which Theano keeps what it compiles, for processes to come.

Importing it names the folder to Theano, which reads its flags when it is imported. Without the variable, or where the
folder cannot be written, Theano takes one in the home folder.
"""

import os

from benchmarks import contract


def modules(folder):
    """Return the names of the compiled modules below a folder, which Theano takes from their content."""
    return {name for _, _, names in os.walk(folder) for name in names if name.endswith(".so")}


def _folder():
    named = os.environ.get(contract.COMPILE_CACHE, "")
    # Theano's flags are separated by commas.
    usable = named and "," not in named and os.access(named, os.W_OK)
    return named if usable else os.path.join(os.path.expanduser("~"), ".theano")


FOLDER = _folder()
BEFORE = modules(FOLDER)
os.environ["THEANO_FLAGS"] = ",".join(filter(None, [os.environ.get("THEANO_FLAGS"), "base_compiledir=" + FOLDER]))


def state():
    """Return `cold` if this process has compiled a module that no earlier one had, or `warm`.

    Theano 1.0.5 compiles copies and transpositions again in every process, which is no sign of a cold cache.
    """
    return "warm" if modules(FOLDER) <= BEFORE else "cold"
