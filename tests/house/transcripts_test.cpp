// Event by event: two small scenarios' transcripts, as they were worked out with a pencil.
#include "house/results.h"

namespace transcripts_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

std::string events_of(const std::string& scenario) {
  const Scratch scratch;
  const Called called =
      call("simgrad run '" + source_dir().string() + "/scenarios/" + scenario + ".toml' --no-baseline --events --out o",
           scratch.path());
  INFO(called.err);
  CHECK(called.exit_code == 0);
  return called.out;
}

std::string golden(const std::string& scenario) {
  return contents((source_dir() / "tests" / "house" / "transcripts" / (scenario + ".txt")).string());
}

}  // namespace

TEST_CASE("events_of_a_ring: the transcript, letter for letter") {
  CHECK(events_of("events_of_a_ring") == golden("events_of_a_ring"));
}

TEST_CASE("events_of_a_server: the transcript, letter for letter") {
  CHECK(events_of("events_of_a_server") == golden("events_of_a_server"));
}

}  // namespace transcripts_test
