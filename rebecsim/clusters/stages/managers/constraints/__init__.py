"""Resource managers that plan by constraint programming, and by an integer programme."""
