"""The browser front end: a local server whose pages let people explore models by clicking.

`prepare` makes a `Server` for the models of a `Library`; `make_app` makes the application that it
runs. Pages are rendered here, and all state of the explorer is in the address. Needs the extra
`web`; names are loaded when they are asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
