"""rebecsim: a Timed Rebeca workbench.

`rebecsim.lang` reads and checks models, `rebecsim.actors` says what a rebec is and when it may
act, `rebecsim.generate` turns configurations and checked models into code, `rebecsim.simulation`
runs them, `rebecsim.studies` compares policies, `rebecsim.report` shows the results.
"""

__version__ = "0.1.0"
