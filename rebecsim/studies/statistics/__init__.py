"""Statistics of results: exact moments, figures with intervals, differences, how many runs."""
