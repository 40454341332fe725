"""Resource managers: who decides which task runs where and when."""
