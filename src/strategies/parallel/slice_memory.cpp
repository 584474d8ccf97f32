#include "models/model_part.h"
#include "strategies/parallel/slice_cache.h"

namespace simgrad::strategies {

double bytes_kept(const models::ModelPart& part, const SliceOptions& slices, const training::MemoryTerms& terms,
                  std::int64_t rows) {
  if (!slices.active()) return 0.0;
  double numbers = 0.0;  // of a row
  for (const models::PlacedChunk& chunk : part.chunks())
    for (const models::Segment& segment : chunk.segments)
      for (const auto* steps : {&segment.forward, &segment.backward})
        for (const models::Step& step : *steps)
          if (step.among == models::Among::tensor && step.then != models::Step::Then::nothing)
            numbers += step.numbers * (step.then == models::Step::Then::gather ? chunk.chunk.tensor : 1);
  double agreed = 0.0;
  for (const models::ParameterStretch& stretch : part.replicated(models::Among::tensor))
    agreed += static_cast<double>(stretch.count);
  // A step with other rows than the one before refreshes them, unless it still has them.
  const bool full = terms.batch == terms.training_rows;
  const std::int64_t every = full ? slices.refresh_every : 1;
  const auto rounds = static_cast<double>(slices.staleness / every + 1);
  const auto of_gradients = static_cast<double>((slices.slack() + every - 1) / every + 1);
  return rounds * static_cast<double>(rows) * numbers * terms.bytes.activation +
         of_gradients * agreed * terms.bytes.gradient;
}

}  // namespace simgrad::strategies
