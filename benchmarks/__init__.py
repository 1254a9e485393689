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

Where the real models come from: nltcs, plants, jester, dna, mushrooms, nips and moviereview are
binary data sets of the density estimation benchmark (their training parts), alarm is 1,000 rows of
the ALARM network. The Libra toolkit 1.1.2c learned the structures; the name of a file says how (P
is the penalty per split, L the L1 penalty)::

    cl              cl, then mconvert            bn-psP         bnlearn -ps P, then mconvert
    dttree-psP      dnlearn -tree -ps P, then mconvert
    dt-psP          the same, by mconvert -feat  dn2mn-psP      the same trees through dn2mn
    dtsl-psP-l1_L   the features of dt-psP, refitted by mnlearnw -l1 L (-nz: without weights of 0)
    lr-l1_L         dnlearn -logistic -l1 L      acmn-sM        acmn, at most M splits
    boost-TxL       dnboost, then mconvert -feat

So with the toolkit and the data at hand, ``nltcs.dttree-ps10.mn`` and ``nltcs.dt-ps10.mn`` are made
again by ::

    libra dnlearn -i nltcs.train.data -o nltcs.dn -tree -ps 10
    libra mconvert nltcs.dn nltcs.dttree-ps10.mn
    libra mconvert -feat nltcs.dn nltcs.dt-ps10.mn

``docs/measured/benchmarks.md`` says more about the data and has the figures.
"""
