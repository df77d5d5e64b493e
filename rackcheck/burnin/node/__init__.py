"""Code that runs on the node, with the node's own Python 3.6 or newer.

`rackcheck.burnin.pack` joins these files into one text with one namespace. Because the functions and classes of all
files share one namespace on the node, no file imports another one at run time.
"""
