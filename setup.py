"""The compiled parts; everything else about the package is in pyproject.toml.

They are optional: without a compiler the package installs all the same, and the engines and the
parser written in Python answer.
"""

import sys
from glob import glob

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

KERNEL = "src/contextwise/counting/kernel"

kernel = Pybind11Extension(
    "contextwise.counting._kernel",
    [f"{KERNEL}/module.cpp"],
    depends=[*sorted(glob(f"{KERNEL}/*.hpp")), "src/contextwise/counting/python_values.hpp"],
    cxx_std=20,
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3", "-pthread"],
    extra_link_args=[] if sys.platform == "win32" else ["-pthread"],
    optional=True,
)

scanner = Pybind11Extension(
    "contextwise.formats._scan",
    ["src/contextwise/formats/scan.cpp"],
    cxx_std=20,
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3"],
    optional=True,
)

GROW = "src/contextwise/learning/grow"

# Both twins must round alike, so products and sums are not fused.
growth = Pybind11Extension(
    "contextwise.learning._grow",
    [f"{GROW}/module.cpp"],
    depends=[*sorted(glob(f"{GROW}/*.hpp")), f"{KERNEL}/threads.hpp"],
    cxx_std=20,
    extra_compile_args=["/O2"]
    if sys.platform == "win32"
    else ["-O3", "-pthread", "-ffp-contract=off"],
    extra_link_args=[] if sys.platform == "win32" else ["-pthread"],
    optional=True,
)

descent = Pybind11Extension(
    "contextwise.distributions._descent",
    ["src/contextwise/distributions/descent.cpp"],
    depends=["src/contextwise/distributions/descent.hpp"],
    cxx_std=20,
    extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3"],
    optional=True,
)

setup(ext_modules=[kernel, scanner, growth, descent])
