"""What tasks share: processors and disks as servers with equal shares, and a network of flows."""
