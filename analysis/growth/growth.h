#pragma once

// What grew between cores of one program.
//
// The problem: two type tables side by side say "+9,000 Tensor, +36,000 dict, +80,000 str", and a person has to
// guess which of these belong together, what holds them, and which are the cause. Retained sizes of the newer core
// do not say what of them is new.
//
// The idea: held rows (inventory.h) add up, and each says in which rows its owners are. A row that grew hangs
// below the row of its owners, if that grew as well: the tensors below the graphs, the graphs below the sessions.
// What is left at the top is held by something that did not grow: there, at one attribute, global or local, the
// program adds something and never takes it away. This is a place, and all that hangs below it is its growth: so
// growths of places add up too. The objects that the place itself holds are the units ("8 more Session"), and
// where the number of others is a multiple of theirs, each unit has so many ("each with 1 Graph, 9,000 Tensor").
//
// Several names may be one place: attributes that grew alike on all objects of a class (nine arrays on each node),
// and names that the program makes up for each thing it keeps. What they hold together is credited to their place.
// What objects of one class hold in several places is divided among these (placed_rows.h).
//
// What is no growth: an object is said to be held by its cheapest path, and that may lead elsewhere in the other
// core. Then one row grows by what another one loses. So of a row's growth no more counts than its type grew in
// all; or, of one process, than objects are new, if that makes a difference (GrowthResult::moved): a queue that was
// emptied into an archive is told from one that grew while the archive was freed. Of three cores, a place that did not
// grow from each to the next comes behind those that did.
//
// Behind the places: blocks of C code by class or size, as far as no Python object owns them, and the rows of the
// table that closes. Whichever explains most comes first.

#include "analysis/growth/grown.h"

#include <vector>

namespace heapsift {

/// Of two cores or more, the oldest first. Cost: by the number of rows.
GrowthResult growth(const std::vector<Inventory>& cores);

}  // namespace heapsift
