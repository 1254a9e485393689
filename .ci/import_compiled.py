"""Import every compiled module of the installed package, and fail if one was not built.

Without a compiler the package installs without them, which must not go unnoticed in CI.
"""

from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"

for stub in sorted(SOURCE.glob("contextwise/*/_*.pyi")):
    module = import_module(".".join(stub.relative_to(SOURCE).with_suffix("").parts))
    print(module.__file__)
