/// The alpha-beta prediction of each collective beside what was simulated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

struct CollectiveRow {
  const Case* one = nullptr;
  record::CollectiveUse use;  ///< of the first seed
  std::string explanation;    ///< the gap between prediction and simulation, in numbers
};

struct Collectives : Chart {
  std::vector<CollectiveRow> rows;
};

/// Nothing where no collective was called.
std::optional<Collectives> collectives(const ReportModel& model);

/// What is known to make a collective slower than alone on an idle network, in the order in which it is named.
struct Causes {
  std::string network_model;  ///< where it is not the ideal one, of which the prediction is made
  bool jitter = false;
  bool uneven = false;   ///< members of different speeds
  bool traffic = false;  ///< on links that other traffic or other jobs use
  bool shared = false;   ///< links that several of its messages can meet on
  bool stragglers = false;
};

Causes causes(const Case& one);

/// The gap between prediction and simulation with its cause, where one is known; skew is waiting for the last member.
std::string explained(const record::CollectiveUse& use, const Causes& causes);

void write(Writer& writer, const Collectives& collectives);

}  // namespace simgrad::outputs::report
