"""A process with an object of nearly every type that Python and its library can make, and 200,000 of the common ones.

Problem: a heap reader is right for the types its author thought of.
Idea: a zoo. Every exhibit is a function that returns objects to keep. One that this version of Python cannot make, or for which a
module is missing, is named and left out. Exhibits also leave garbage, freed memory and odd classes behind.

    zoo_language.py   what the language has: instances, containers, text, functions, generators, classes, exceptions
    zoo_library.py    what the standard library has
    zoo_numpy.py      arrays, dtypes, scalars; nothing without NumPy
"""

import exhibits
import truth
import zoo_language
import zoo_library
import zoo_numpy

KEPT = {}


def stand_still():
    a_local_list = ["held", "by", "a", "frame"]
    truth.record()
    return a_local_list


exhibits.open_houses("zoo", (zoo_language, zoo_library, zoo_numpy), KEPT)
stand_still()
