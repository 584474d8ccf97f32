#include "experiment/checks/test_rows.h"

#include <fmt/format.h>

namespace simgrad::experiment {

std::vector<std::string> notes_on_test_rows(const Settings& settings) {
  const bool unused = settings.training.numbers && settings.data.test_fraction > 0.0 &&
                      settings.evaluate.on != training::EvaluationSet::test;
  if (!unused) return {};
  return {fmt::format(
      "the rows that data.test_fraction = {} keeps for testing are not used; set evaluate.on = \"test\" to evaluate on "
      "them",
      settings.data.test_fraction)};
}

}  // namespace simgrad::experiment
