// Answers with numbers: equal tokens, however the model is cut and requests are batched.
#include "serving/answers.h"

#include <set>

#include "base/random.h"
#include "catch.h"
#include "serving/served.h"

namespace serving_answers_test {

using namespace simgrad;
using namespace simgrad::tests;

/// Twelve prompts of random tokens, answered at random arrivals.
ServingTrial trial_of(models::Positions positions, bool gated) {
  ServingTrial trial = at_once(12, 9, 14);
  trial.options.arrivals = serving::Arrivals::poisson;
  trial.options.rate_per_s = 3000.0;
  trial.options.lengths = serving::Lengths::uniform;
  models::TransformerOptions& options = trial.model->options;
  options.layers = 4;
  options.sequence = 64;
  options.positions = positions;
  options.gated = gated;
  options.kv_heads = 2;
  if (gated) options.norm = models::Norm::rms_norm;
  base::Stream stream({.seed = 3});
  for (const serving::Request& request : serving::requests_of(trial.options, trial.seed)) {
    auto& prompt = trial.prompts.emplace_back();
    for (std::int64_t k = 0; k < request.prompt_tokens; ++k)
      prompt.push_back(static_cast<std::int64_t>(stream.below(32)));
  }
  return trial;
}

std::vector<std::string> answers(const ServingTrial& trial) {
  std::vector<std::string> all;
  for (const auto& each : trial.run().requests) all.push_back(each.answer);
  return all;
}

TEST_CASE("answers are those of one device that answers one request at a time") {
  for (const bool gated : {false, true}) {
    ServingTrial trial = trial_of(gated ? models::Positions::rotary : models::Positions::learned, gated);
    trial.options.batch_size = 1;
    const std::vector<std::string> alone = answers(trial);
    CHECK(std::set<std::string>(alone.begin(), alone.end()).size() > 6);  // they are no constant
    trial.options.batch_size = 8;
    CHECK(answers(trial) == alone);
    trial.options.prefill_chunk = 4;
    CHECK(answers(trial) == alone);
    trial.tensor = 2;
    CHECK(answers(trial) == alone);
    trial.pipeline = 2;
    CHECK(answers(trial) == alone);
    trial.replicas = 2;
    CHECK(answers(trial) == alone);
    trial.tensor = 1;
    trial.pipeline = 4;
    trial.options.prefill_chunk.reset();
    CHECK(answers(trial) == alone);
  }
}

}  // namespace serving_answers_test
