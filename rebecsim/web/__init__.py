"""The browser front end: a local server whose pages let people explore models by clicking.

Pages are rendered here, and all state of the explorer is in the address. Needs the extra `web`.
"""
