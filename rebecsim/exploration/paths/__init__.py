"""Ways through a model, step by step: for people, and in files, for going them again."""
