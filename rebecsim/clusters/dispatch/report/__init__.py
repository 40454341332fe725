"""Sections of reports for dispatch clusters: hardware, utilisation, the published figures."""
