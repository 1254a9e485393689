"""How fast the counting is, beside other ways to do it, measured in one run.

::

    pip install -e '.[bench]'
    python -m benchmarks                     # on generated families
    python -m benchmarks FOLDER              # on real models, DATA.SETTING.mn files of a folder
    python -m benchmarks FOLDER --lines solvers threads
    python -m benchmarks FOLDER --data FOLDER --lines learned learners    # what was learned from

Each module of `benchmarks.lines` is one line of the report: what is compared with what, and the
figure that is aimed at. Timings mean little by themselves on a shared machine; what counts are the
ratios within one run, and work of one thread is measured by the time of its processor. Every
contender's answers are compared while it is timed. Raw measurements and the machine go to
``results/NAME.json``, the report with its plots beside them.
"""
