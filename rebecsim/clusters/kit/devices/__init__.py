"""Devices that tasks share: processors and disks with equal shares, and a network of flows."""
