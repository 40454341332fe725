"""A language server: what editors ask while a model is written. Needs the extra `lsp`.

`answers` knows what is asked of a text; `server` speaks the Language Server Protocol.
"""
