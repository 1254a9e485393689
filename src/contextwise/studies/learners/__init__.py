"""Learners judged by the metric, beside KL-divergence and CMLL: the study of learners.

`configuration` says what a run is, `run` runs it, `unit` and `real_data` are its two kinds of
units, `cells`, `rankings` and `claims` read the results, `tables`, `figures` and `publication` show
them.
"""
