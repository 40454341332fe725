"""The kind `model`: a model of your own as a study.

A scenario names the model, what to observe of its runs, and which of its constants and constructor
arguments take several values; each combination is a variant, and variants are compared.
"""
