"""Studies with the package: the paper's experiment on KL-divergence, and a study of learners.

They are scripts on the public functions, outside the package; ``results`` has what they wrote::

    python -m studies.kl --out runs/kl --jobs 2
"""
