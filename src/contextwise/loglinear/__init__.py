"""What a `LogLinear` can do: distributions, sampling, fitting, divergences."""
