"""Count covers exactly. This room knows arrays, never a model.

Start with `contract` (what an engine does, and the table of engines), `cover` (what it counts) and
`pair_counts` (the counts of all pairs). The engines are `native`, `branch`, `partition` and
`enumerate`; the default is `native`, or `branch` where the kernel was not built.

What must be fast is written twice: readable in Python, and compiled in C++ (``kernel/``, which is
``native.kernel``). Both give the same answers. A function with a plain name uses the compiled code
where it is available; its readable twin ends in ``_in_python``. The engines `native` and `branch`
are twins as a whole.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.counting import contract, extraction
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
