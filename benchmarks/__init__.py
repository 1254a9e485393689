"""Measure the speed of counting, compared with other methods in the same run.

::

    pip install -e '.[bench]'
    python -m benchmarks                     # on generated families
    python -m benchmarks FOLDER              # on real models, DATA.SETTING.mn files of a folder
    python -m benchmarks FOLDER --lines solvers threads
    python -m benchmarks FOLDER --data FOLDER --lines learned learners    # with training data

Each module of `benchmarks.lines` measures lines of the report, with their goals. On a shared
machine only ratios within one run are meaningful; single-threaded work is measured in processor
time. The answers of all methods are compared. Raw measurements and the machine are written to
``results/NAME.json``, the report and its plots to the same folder.

The real models: nltcs, plants, jester, dna, mushrooms, nips and moviereview are
binary data sets of the density estimation benchmark (their training parts), alarm is 1,000 rows of
the ALARM network. The Libra toolkit 1.1.2c learned the structures; file names
contain the settings (P is the penalty per split, L the L1 penalty)::

    cl              cl, then mconvert            bn-psP         bnlearn -ps P, then mconvert
    dttree-psP      dnlearn -tree -ps P, then mconvert
    dt-psP          the same, by mconvert -feat  dn2mn-psP      the same trees through dn2mn
    dtsl-psP-l1_L   the features of dt-psP, refitted by mnlearnw -l1 L (-nz: without weights of 0)
    lr-l1_L         dnlearn -logistic -l1 L      acmn-sM        acmn, at most M splits
    boost-TxL       dnboost, then mconvert -feat

For example, these commands make ``nltcs.dttree-ps10.mn`` and ``nltcs.dt-ps10.mn``::

    libra dnlearn -i nltcs.train.data -o nltcs.dn -tree -ps 10
    libra mconvert nltcs.dn nltcs.dttree-ps10.mn
    libra mconvert -feat nltcs.dn nltcs.dt-ps10.mn

``docs/measured/benchmarks.md`` describes the data and summarizes the results.
"""
