// The claims of the scenarios whose rows come in during the training.
#include "house/results.h"

namespace stream_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("moving_target: asp follows a target that moves better than bsp, by more than where it stands still") {
  const auto results = results_of("moving_target.toml");
  /// Returns the mean loss of the clicks that come next, once ten seconds have been learnt from.
  const auto mean_loss = [&](const char* label, const char* drift) {
    const auto& curve = run_of(*results, label, std::string("{\"data.drift\":") + drift + "}").record.curve;
    double sum = 0.0;
    int rows = 0;
    for (const auto& row : curve) {
      if (row.simulated_s < 10.0) continue;
      sum += *row.loss;
      ++rows;
    }
    return sum / rows;
  };
  const auto steps = [&](const char* label) {
    return static_cast<double>(run_of(*results, label, "{\"data.drift\":2.0}").record.samples);
  };
  const std::pair<const char*, const char*> servers[] = {{"bsp", "asp"}, {"sparse bsp", "sparse asp"}};
  for (const auto& [bsp, asp] : servers) {
    CAPTURE(bsp);
    const double lead_standing = mean_loss(bsp, "0.0") - mean_loss(asp, "0.0");
    const double lead_moving = mean_loss(bsp, "2.0") - mean_loss(asp, "2.0");
    CHECK(lead_standing > 0.0);
    CHECK(lead_moving > 2.0 * lead_standing);
    CHECK(steps(asp) > 6.0 * steps(bsp));
  }
}

}  // namespace stream_scenarios_test
