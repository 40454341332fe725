"""A language server: answers editors while a model is written. Needs the extra `lsp`.

`answers` knows what is asked of a text; `server` speaks the Language Server Protocol.
"""
