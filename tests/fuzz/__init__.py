"""Fuzzing of everything that reads what others wrote: `targets` hold what must hold, `corpus` what once went wrong."""
