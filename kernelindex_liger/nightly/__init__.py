"""The nightly job: bench (or fetch a CSV), import, keep, judge, report, tidy up; each step can be taken up again."""
