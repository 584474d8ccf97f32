/// The alpha-beta prediction of each collective beside what was simulated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/chart.h"
#include "outputs/report/view.h"

namespace simgrad::outputs::report {

struct CollectiveRow {
  const Case* one = nullptr;
  record::CollectiveUse use;  ///< of the first seed
  std::string why;            ///< the gap between prediction and simulation, in numbers
};

struct Collectives : Chart {
  std::vector<CollectiveRow> rows;
};

/// Nothing where no collective was called.
std::optional<Collectives> collectives(const View& view, const nlohmann::ordered_json& scenario);

/// What the scenario has that makes ranks come late or share links, as a reason: "stragglers", "other traffic".
struct Disturbance {
  bool late = false;
  bool shared = false;
};

/// The gap explained: contention is simulated minus predicted, skew is waiting for the last member.
std::string explained(const record::CollectiveUse& use, Disturbance disturbance);

void write(Writer& writer, const Collectives& collectives);

}  // namespace simgrad::outputs::report
