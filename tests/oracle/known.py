"""The words of the faults that an oracle is asked to have, as the program has them.

Written without reading src/. An oracle has such faults, too, so that what else is wrong in a scenario with one of them
shows all the same. All modules look into the one set that is here: nobody binds another to its name, `suppose` changes
what is in it.
"""

FAULTS = set()  # empty: what the publications say


def suppose(words=()):
    """From now on the oracle has these faults, and no others."""
    FAULTS.clear()
    FAULTS.update(words)
