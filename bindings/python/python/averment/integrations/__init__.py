"""Scorers for other packages, each in a module of its own that imports its package.

What is *undecided* (the run does not record what a rule needs) or *vacuous* (nothing in the run exercised the rules) is neither
a 0 nor a 1 anywhere: each scorer says it as its package says that something is unknown.
"""
