#include "strategies/automatic/layout_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "models/operators.h"
#include "strategies/parallel/stages.h"
#include "strategies/parallel/uneven_batch.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

namespace {

/// Ascending.
std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d * d <= number; ++d)
    if (number % d == 0) {
      all.push_back(d);
      if (d * d < number) all.push_back(number / d);
    }
  std::ranges::sort(all);
  return all;
}

class Search {
 public:
  Search(const Strategy& strategy, const Parallel& given, const FreeOptions& free, const training::MemoryTerms& whole)
      : strategy_(strategy),
        given_(given),
        free_(free),
        whole_(whole),
        predictor_(strategy, whole),
        units_(static_cast<std::int64_t>(training::units_of(whole.layers).size())) {}

  LayoutSearch best(std::size_t most) {
    shares();
    found_.predicted = static_cast<std::int64_t>(predicted_.size());
    double least_s = std::numeric_limits<double>::infinity();
    for (const PredictedLayout& layout : predicted_) least_s = std::min(least_s, layout.step_s);
    const auto order = [least_s](const PredictedLayout& layout) {
      return std::tuple(std::round(layout.step_s / least_s * 1e9), layout.parallel.ranks_a_replica(),
                        layout.parallel.micro_batch_count());
    };
    const auto before = [&](const PredictedLayout& a, const PredictedLayout& b) { return order(a) < order(b); };
    std::ranges::stable_sort(predicted_, before);
    const bool programs = free_.stages;
    for (const PredictedLayout& layout : predicted_) {
      // A layout behind them all could still become a little shorter by moving units between its stages; that is not
      // tried.
      if (found_.best.size() >= most && found_.best[most - 1].step_s <= layout.step_s) break;
      if (auto fits = predictor_.fitting(layout, programs))
        found_.best.insert(std::ranges::upper_bound(found_.best, *fits, before), std::move(*fits));
      else
        refuse("memory of the devices");
    }
    if (found_.best.size() > most) found_.best.resize(most);
    return std::move(found_);
  }

 private:
  void refuse(const char* reason) { ++found_.refused[reason]; }

  std::vector<std::int64_t> values(bool is_free, std::int64_t given, std::int64_t of) const {
    return is_free ? divisors(of) : std::vector{given};
  }

  /// All ways to share out the ranks of a replica.
  void shares() {
    const std::int64_t most = given_.data ? whole_.workers / *given_.data : whole_.workers;
    for (const std::int64_t tensor : values(free_.tensor, given_.tensor, most))
      for (const std::int64_t context : values(free_.context, given_.context, most))
        for (const std::int64_t expert : values(free_.expert, given_.expert, most))
          if (most % (tensor * context * expert) == 0) with_shares(tensor, context, expert, most);
  }

  void with_shares(std::int64_t tensor, std::int64_t context, std::int64_t expert, std::int64_t most) {
    Parallel parallel = given_;
    parallel.tensor = tensor;
    parallel.context = context;
    parallel.expert = expert;
    const bool shares = tensor * context * expert > 1;
    if (shares && !models::cut_into_operators(*whole_.model)->refusal(*whole_.problem, parallel.shares()).empty())
      return refuse("heads, widths, tokens or experts that do not divide");
    for (const std::int64_t pipeline :
         values(free_.pipeline, given_.pipeline, most / parallel.tensor / parallel.context / parallel.expert)) {
      parallel.pipeline = pipeline;
      const std::int64_t replica = parallel.ranks_a_replica();
      if (whole_.workers % replica == 0 && (!given_.data || *given_.data * replica == whole_.workers))
        with_replicas(parallel, whole_.workers / replica);
    }
  }

  void with_replicas(Parallel parallel, std::int64_t data) {
    if (!given_.stages.empty() &&
        static_cast<std::int64_t>(given_.stages.size()) != parallel.pipeline * parallel.chunks)
      return refuse("other stages than those that are written");
    if (parallel.pipeline == 1 && parallel.chunks > 1) return refuse("chunks of one stage");
    if (!stages_refusal(parallel, units_).empty()) return refuse("more pieces than units");
    const training::Traits traits = strategy_.traits(static_cast<int>(data));
    if (traits.workers.value_or(data) != data) return refuse("more replicas than the strategy has");
    const std::int64_t shares = data * parallel.expert;
    if (whole_.batch % shares != 0) return refuse("a batch that does not divide");
    for (const std::int64_t micro_batches :
         values(free_.micro_batches, given_.micro_batches.value_or(parallel.pipeline), whole_.batch / shares)) {
      parallel.micro_batches = micro_batches;
      if (!uneven_batch(whole_.batch, data, parallel).empty()) {
        refuse("a batch that does not divide");
        continue;
      }
      if (parallel.pipeline > 1 && !parallel.schedule->refusal(parallel.shape()).empty()) {
        refuse("a schedule that does not take as many micro-batches");
        continue;
      }
      predicted_.push_back(predictor_.predict(parallel, free_.stages));
    }
  }

  const Strategy& strategy_;
  const Parallel& given_;
  const FreeOptions& free_;
  const training::MemoryTerms& whole_;
  LayoutPredictor predictor_;
  std::int64_t units_;
  std::vector<PredictedLayout> predicted_;
  LayoutSearch found_;
};

}  // namespace

LayoutSearch search_layouts(const Strategy& strategy, const Parallel& given, const FreeOptions& free,
                            const training::MemoryTerms& whole, std::size_t most) {
  return Search(strategy, given, free, whole).best(most);
}

}  // namespace simgrad::strategies
