// Refusals of gradient accumulation and of shards.
#include "experiment/refused.h"

namespace sharding_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::string in_micro_batches(const std::string& kind, int micro_batches, const std::string& training) {
  return small + "[training]\n" + training + "\n[[strategy]]\nkind = \"" + kind +
         "\"\nmicro_batches = " + std::to_string(micro_batches) + "\n";
}

}  // namespace

TEST_CASE("a worker has no more micro-batches than rows") {
  for (const char* kind : {"allreduce", "zero", "fsdp"}) {
    CAPTURE(kind);
    CHECK(planned(in_micro_batches(kind, 4, "batch_size_per_worker = 4")).runs.size() == 1);
    check_refused_text(in_micro_batches(kind, 5, "batch_size_per_worker = 4"),
                       "5 micro-batches of the 4 rows that a worker has in a step; expected at most as many");
    // One of four workers has five of 17 rows.
    CHECK(planned(in_micro_batches(kind, 5, "batch_size = 17")).runs.size() == 1);
    check_refused_text(in_micro_batches(kind, 6, "batch_size = 17"), "6 micro-batches of the 5 rows");
    check_refused_text(in_micro_batches(kind, 2, "batch_size = 4"), "2 micro-batches of the 1 row that");
  }
}

TEST_CASE("shards are updated apart, so optimizers that need all of a gradient are refused, and its norm is not") {
  for (const std::string kind : {"zero", "fsdp"}) {
    CAPTURE(kind);
    const auto with = [&](const std::string& training) {
      return small + "[training]\n" + training + "\n[[strategy]]\nkind = \"" + kind + "\"\n";
    };
    check_refused_text(with("optimizer = \"lamb\""),
                       "under optimizer = \"lamb\" the update of one parameter depends on");
    CHECK(planned(with("clip_norm = 1.0")).runs.size() == 1);
    CHECK(planned(with("precision = \"float16\"")).runs.size() == 1);
  }
}

}  // namespace sharding_refusals_test
