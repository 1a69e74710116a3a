"""Programs that measure; each prints a table of ratios taken in one run."""
