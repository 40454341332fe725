"""Running plans: on this machine and on others, until figures are as precise as asked for."""
