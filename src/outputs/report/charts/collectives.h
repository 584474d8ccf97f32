/// Each collective: time by the alpha-beta prediction, and time in the simulation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

struct CollectiveRow {
  const Case* one = nullptr;
  record::CollectiveUse use;  ///< in the first seed
  std::string explanation;    ///< the gap between prediction and simulation, and its cause
};

struct Collectives : Chart {
  std::vector<CollectiveRow> rows;
};

/// Returns nothing if no collective was called.
std::optional<Collectives> collectives(const ReportModel& model);

/// Causes that make a collective slower than alone on an idle network, in the order in which they are named.
struct Causes {
  std::string network_model;  ///< empty if the prediction knows it, as it does ideal and ethernet
  bool jitter = false;
  bool uneven = false;   ///< members have different speeds
  bool traffic = false;  ///< other traffic or other jobs use the links
  bool shared = false;   ///< several of its messages can share a link
  bool stragglers = false;
};

Causes causes(const Case& one);

/// Returns the gap between prediction and simulation, with a cause if one is known, and the skew: the time that members
/// wait for the last one. Its end is the share that is hidden behind other work.
std::string explained(const record::CollectiveUse& use, const Causes& causes);

void write(Writer& writer, const Collectives& collectives);

}  // namespace simgrad::outputs::report
