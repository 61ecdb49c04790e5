# A result holds no reference to what it was computed from: no class that a header of analysis/ declares has a member that is a
# reference, a pointer or a view. Those named here are no results: they answer questions by way of what they refer to, for the time of
# one call. Run by ctest: cmake -DSOURCE=folder -P result_references.cmake
cmake_policy(SET CMP0057 NEW)  # IN_LIST
set(allowed
    BoostView              # what Boost.Graph's algorithms are given: a graph by another name
    NodeRow                # a row of the graph's edges, handed out by targets()
    PathSearch             # fills the columns that it is given
    DominatorTree          # most dominators are parents in the preorder, which lives as long: HeapGraph has both
    CommonDominatorFinder  # asked of one set after another
    JointHolderFinder      # of one node after another
    HeapGraph              # the references of the heap, with roots above them: read by every search, and owned by Work
    GroupFinder            # makes Groups
    RetainedLookup         # what is asked of RetainedSizes by node
    DyingByCounts          # asked of one set after another
    HolderLabeler          # puts paths into words
    HolderNames            # their words, each once
    StepExamples           # the same of single steps
    OtherHolders           # labels of one heap's objects, beside those of their paths
    StepNumbers            # names of steps, by where they lie: literals of the program
    ExpressionFinder       # the same
    StepsBetween           # names of steps, read when they are asked for: all at once would be larger than the heap
    DominatorsAnswer       # puts a tree into words node by node, likewise
    AwaitReader            # what suspended calls wait for, one at a time
    RootNamer              # the same of roots
    NativeHolderFinder     # the same of what holds objects from C code
    NodeEdgeFinder         # edges one by one: all at once would be larger than the heap
    ExportReader           # rows one by one, likewise
    ExpressionRoots        # an expression, step by step
    ExpressionSteps        # the same
    ExpressionPlace        # where in a frame an expression has come to, while it is read
    Bracket                # what stands between brackets, in the text that was typed
    PandasReader           # what pandas' objects are, read once for a walk
    DataRun                # bytes of the mapped core, while they are read
    ArrayElements          # shape and strides of an array, while its bytes are counted
    Scene                  # what a rule for causes asks of one holder
    NamesOfClass           # names of one class, asked of one function after another
    Rule                   # a row of a table in the program: its name and its function
    CodeThatNames          # code of one heap, asked for one name after another
    KeptAnswers            # where answers are read from, and what is to be kept: owned by the session
    Work)                  # the place that owns what is computed, beside the heap
# @ stands for a semicolon, which would part a list.
set(members "^ +(mutable |const )*[A-Za-z_:][A-Za-z0-9_:<>, ]*[&*]+( const)? [a-z_]+_?( = nullptr)?@"
    "^ +[^(=]*<[^(]*[&*]>* [a-z_]+_?@" "^ +(std::optional<)?std::(span<.*>|string_view)>? [a-z_, ]+@")
file(GLOB_RECURSE headers ${SOURCE}/analysis/*.h)
list(LENGTH headers count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} headers in ${SOURCE}/analysis")
endif()
set(found "")
set(met "")
foreach(header ${headers})
  file(READ ${header} text)
  string(REPLACE ";" "@" text "${text}")
  string(REGEX REPLACE "[][]" "" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(class "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(class|struct) ([A-Za-z]+)")
      set(class ${CMAKE_MATCH_2})
    elseif(line MATCHES "^}@")
      set(class "")
    endif()
    if(NOT class OR line MATCHES "^ +(using|return|friend|static) ")
      continue()
    endif()
    foreach(pattern IN LISTS members)
      if(line MATCHES "${pattern}")
        list(APPEND met ${class})
        if(NOT class IN_LIST allowed)
          string(APPEND found "\n${header}: ${class}: ${line}")
        endif()
      endif()
    endforeach()
  endforeach()
endforeach()
if(found)
  message(FATAL_ERROR "refers to what it was computed from:${found}")
endif()
foreach(class IN LISTS allowed)
  if(NOT class IN_LIST met)
    message(FATAL_ERROR "${class} refers to nothing any more: take it from the list")
  endif()
endforeach()
