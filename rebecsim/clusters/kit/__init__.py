"""What kinds of clusters share: registries, errors of plug-ins, and serving messages fast."""
