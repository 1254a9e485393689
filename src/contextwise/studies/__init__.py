"""Studies: the KL study and the study of learners."""
