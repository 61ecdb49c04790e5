#pragma once

// The likely causes, each with its fix: as a command of its own, and on the first screen.

#include "analysis/overview.h"
#include "analysis/suspects/suspects.h"
#include "cli/document/document.h"

#include <vector>

namespace heapsift {

/// SUSPECT of the contract, each; `overview` is what they were made of.
Datum suspects_data(const SuspectsResult& result, const OverviewResult& overview);
/// The table, and what to type next; where `may_give_way`, on a first screen, with the other large holders. On a short screen the last of them lose their causes first.
void say_suspects(const SuspectsResult& result, const OverviewResult& overview, Document& document,
                  bool may_give_way = true);

/// Numbers in the units of a page.
Text cause_words(const CauseWords& words);
/// Of what most of the garbage is, if that is known: "5,001 app.Request".
Text garbage_words(const OverviewResult& overview);
/// Who keeps it: "app.CACHE, a dict of 4,000 str".
Text keeper_words(const Suspect& suspect, const OverviewResult& overview);

/// All that is said of one of them.
struct SuspectWords {
    Text keeper;                 // who keeps it
    std::vector<Text> evidence;  // the cause, who else holds it, the code that uses it: a line each
    Text fix;                    // "fix: …"; empty if none is known
    Text next;                   // the command that leads on
};
SuspectWords words_of(const Suspect& suspect, const OverviewResult& overview);

Document render_suspects(const SuspectsResult& result, const OverviewResult& overview);

}  // namespace heapsift
