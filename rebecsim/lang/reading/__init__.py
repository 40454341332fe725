"""Read text: from characters to a syntax tree, with diagnostics for syntax errors."""
