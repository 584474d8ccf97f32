// Runs of a scenario, of which everything that holds of any run is checked.
#pragma once

#include <string>
#include <vector>

#include "catch.h"
#include "experiment/run/runner.h"
#include "experiment/scenario.h"

namespace simgrad::experiment::checked {

inline std::string strategy(const std::string& kind) { return "[[strategy]]\nkind = \"" + kind + "\"\n"; }

inline bool is_share(const std::optional<double>& value) { return !value || (*value >= -1e-9 && *value <= 1 + 1e-9); }

/// The runs of a scenario without baselines. Everything that holds of any run is checked.
inline std::vector<outputs::Run> runs_of(const std::string& text, const Selection& selection = {}) {
  const tests::Scratch scratch;
  Selection chosen = selection;
  chosen.baselines = false;
  const auto results =
      run_plan(planned(text, chosen), {.out = scratch.path(), .jobs = 1, .threads = 0, .progress = {}});
  for (const outputs::Run& run : results.runs) {
    CAPTURE(text, run.label, run.seed, run.record.error);
    CHECK(run.record.error.find("signal") == std::string::npos);
    if (run.record.status == record::Status::failed) continue;
    REQUIRE_FALSE(run.record.curve.empty());
    CHECK(run.record.curve.front().step == 0);
    CHECK(is_share(run.record.goodput));
    for (const record::LinkUse& link : run.record.links) CHECK(is_share(link.utilisation));
    for (const record::LinkBin& bin : run.record.link_bins) CHECK(is_share(bin.utilisation));
    for (const record::RankUse& use : run.record.ranks)
      CHECK(use.compute_s + use.communicate_s + use.wait_s + use.down_s ==
            Approx(run.record.simulated_s).epsilon(1e-9).margin(1e-12));
  }
  return results.runs;
}

}  // namespace simgrad::experiment::checked
