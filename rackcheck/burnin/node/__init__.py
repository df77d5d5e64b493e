"""Code that runs on the node, with the node's own Python 3.6 or newer.

`rackcheck.burnin.pack` joins these files into one text with one namespace. So no file here imports another one at run
time: the functions and classes of all files share one namespace.
"""
