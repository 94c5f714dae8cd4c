"""`make bench`: what Homeport costs, as ratios measured in one run. Needs gcc and wrk; prints, and writes JSON."""
