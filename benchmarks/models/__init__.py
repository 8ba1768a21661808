"""One file for each model, named as in `matrix.yaml`, in a folder by its kind.

A file has one `build(net)`, and literals which the host reads without running it.
"""

import os

# The folders sort the files alone: the module of a model is `benchmarks.models.NAME`, whatever its folder is called.
_HERE = os.path.dirname(os.path.abspath(__file__))
__path__ = [_HERE] + sorted(
    os.path.join(_HERE, name) for name in os.listdir(_HERE) if os.path.exists(os.path.join(_HERE, name, "__init__.py"))
)
