"""Predictions of a cluster's future, which PEEK asks for before it gives less memory."""
