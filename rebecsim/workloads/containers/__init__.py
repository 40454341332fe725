"""Jobs that run in containers, and the nodes of a cluster: traces and topologies of YARN."""
