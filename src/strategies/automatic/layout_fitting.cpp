/// Layouts whose stages fit into the memory of their devices.
#include <algorithm>
#include <cmath>
#include <utility>

#include "strategies/automatic/layout_prediction.h"
#include "strategies/parallel/mesh_memory.h"

namespace simgrad::strategies {

namespace {

constexpr std::size_t cuts_tried_most = 16;  ///< for their memory, of one layout

}  // namespace

/// The stages whose ranks need more than the smallest of their devices has. Sets the memory of the fullest one.
std::vector<LayoutPredictor::TooMuch> LayoutPredictor::too_full(PredictedLayout& layout,
                                                                const LayoutTimes& times) const {
  const std::vector<record::MemoryParts> needed = memory_of_stages(strategy_, layout.parallel, whole_);
  std::vector<TooMuch> all;
  double fullest = -1.0;
  std::int64_t first = 0;
  for (std::size_t stage = 0; stage < needed.size(); ++stage) {
    const double bytes = needed[stage].sum(), has = times.devices(stage).memory_bytes;
    const std::int64_t units = layout.parallel.stages.empty()
                                   ? static_cast<std::int64_t>(times.units().size())
                                   : static_cast<std::int64_t>(layout.parallel.stages[stage]);
    if (whole_.fits_memory && bytes > has) all.push_back({stage, first, first + units});
    if (const double share = std::isfinite(has) ? bytes / has : bytes; share > fullest) {
      fullest = share;
      layout.memory_bytes = bytes;
    }
    first += units;
  }
  return all;
}

/// Whether the stages have room for their parameters and the optimizer's vectors, however the units are dealt. One
/// stage with all units would have as much as all stages together.
bool LayoutPredictor::holds_states(const LayoutTimes& times) const {
  Parallel of_one = times.parallel();
  training::MemoryTerms terms = whole_;
  terms.workers = whole_.workers / of_one.pipeline;
  double has = 0.0;
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(of_one.pipeline); ++stage)
    has += times.devices(stage).memory_bytes;
  of_one.pipeline = of_one.chunks = 1;
  of_one.stages.clear();
  of_one.micro_batches = times.parallel().micro_batch_count();
  const record::MemoryParts parts = memory_of_stages(strategy_, of_one, terms).front();
  return parts[record::MemoryPart::parameters] + parts[record::MemoryPart::optimizer] <= has;
}

/// Moves units to the stage beside theirs as long as the step of the schedule's table falls: the dynamic program's
/// objective is that step only where stages are alike.
PredictedLayout LayoutPredictor::improved(PredictedLayout layout, const LayoutTimes& times) const {
  for (bool shorter = true; shorter;) {
    shorter = false;
    Firsts firsts{0};
    for (const double units : layout.parallel.stages)
      firsts.push_back(firsts.back() + static_cast<std::int64_t>(units));
    for (std::size_t border = 1; border + 1 < firsts.size() && !shorter; ++border)
      for (const std::int64_t moved : {firsts[border] - 1, firsts[border] + 1}) {
        if (moved <= firsts[border - 1] || moved >= firsts[border + 1]) continue;
        Firsts other = firsts;
        other[border] = moved;
        PredictedLayout other_layout = timed_with(times, other);
        if (other_layout.step_s >= layout.step_s * (1.0 - 1e-9) || !too_full(other_layout, times).empty()) continue;
        layout = std::move(other_layout);
        shorter = true;
        break;
      }
  }
  return layout;
}

std::optional<PredictedLayout> LayoutPredictor::fitting(PredictedLayout layout, bool programs) {
  const LayoutTimes times = times_of_layout(layout.parallel);
  const bool deals = programs && layout.parallel.pipeline > 1;
  if (whole_.fits_memory && !holds_states(times)) return {};
  std::vector<TooMuch> known;
  for (std::size_t tried = 0; tried < cuts_tried_most; ++tried) {
    const std::vector<TooMuch> full = too_full(layout, times);
    if (full.empty()) return deals ? improved(std::move(layout), times) : layout;
    if (!deals) return {};
    if (layout.parallel.chunks > 1) break;
    known.insert(known.end(), full.begin(), full.end());
    const Firsts firsts = programmed(times, known);
    if (firsts.empty()) return {};
    layout = timed_with(times, firsts);
  }
  Parallel by_memory = layout.parallel;
  by_memory.stages.clear();
  by_memory.balance = Balance::memory;
  layout = timed_with(times, firsts_of_pieces(strategy_, by_memory, whole_));
  return too_full(layout, times).empty() ? std::optional(layout) : std::nullopt;
}

}  // namespace simgrad::strategies
