#include "cluster/failures/failures.h"

#include <array>

namespace simgrad::cluster {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array recoveries{
    Choice{"restart", "all wait for the repair, then go on from the last checkpoint"},
    Choice{"shrink", "the living go on from the last checkpoint at once, with fewer ranks"}};

}  // namespace

void Crash::describe(base::Describer& d) {
  d.integer("rank", rank, "the worker whose host crashes", Bounds::at_least(0));
  d.quantity("at", at_s, Unit::seconds, "when", Bounds::at_least(0));
  d.quantity("repair", repair_s, Unit::seconds, "how long until the host is back; without it, never",
             Bounds::at_least(0));
}

void FailureOptions::describe(base::Describer& d) {
  d.list("crash", crashes, "the crashes: { rank, at, repair }");
  d.quantity("detection", detection_s, Unit::seconds, "from a crash until everybody knows", Bounds::at_least(0));
  d.choice("recovery", recovery, recoveries, "what the training does then");
  for (const Crash& crash : crashes)
    if (recovery == Recovery::shrink && crash.repair_s)
      d.refuse("crash", "recovery = \"shrink\" goes on without the host for good; leave \"repair\" out, or set recovery = "
                        "\"restart\"");
  if (recovery == Recovery::restart)
    for (const Crash& crash : crashes)
      if (!crash.repair_s)
        d.refuse("crash", "recovery \"restart\" waits for a host that is never repaired; give every crash a \"repair\" "
                          "time, or set recovery = \"shrink\"");
}

}  // namespace simgrad::cluster
