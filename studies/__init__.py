"""Studies with the package: learners on known truths and on real tables.

They are scripts on the public functions, outside the package; ``results`` has what they wrote::

    python -m studies.learners --jobs 2

The paper's experiment is a command: ``contextwise study six --planted 1000 --kl --help``.
"""
