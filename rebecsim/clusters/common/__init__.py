"""What kinds of clusters share: registries of policies and patterns, and errors of plug-ins."""
