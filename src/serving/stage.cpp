#include "serving/stage.h"

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "cluster/fabric/device.h"
#include "training/learning/layer_times.h"

namespace simgrad::serving {

Load load_of(std::int64_t first, std::int64_t tokens, bool answers) {
  const auto before = static_cast<double>(first), n = static_cast<double>(tokens);
  return {.tokens = n, .answers = answers ? 1.0 : 0.0, .pairs = n * before + 0.5 * n * (n + 1.0), .cached = before + n};
}

models::Chunk chunk_of(const models::TransformerShape& shape, int stage, int pipeline, int tensor) {
  const bool last = stage + 1 == pipeline;
  return {.first_unit = stage == 0 ? 0 : 1 + stage * shape.layers / pipeline,
          .end_unit = last ? shape.layers + 2 : 1 + (stage + 1) * shape.layers / pipeline,
          .tensor = tensor};
}

StageWork stage_work(const models::TransformerShape& shape, const models::Chunk& chunk) {
  StageWork work;
  const auto t = static_cast<double>(chunk.tensor);
  const auto h = static_cast<double>(shape.hidden), f = static_cast<double>(shape.feed_forward);
  const auto kv = static_cast<double>(shape.kv_width());
  const bool first = chunk.first_unit == 0, last = chunk.end_unit == shape.layers + 2;
  const auto blocks = static_cast<double>(chunk.end_unit - chunk.first_unit - (first ? 1 : 0) - (last ? 1 : 0));
  work.of_tokens = {{(h + 2.0 * kv) / t, h, blocks},
                    {h, h / t, blocks},
                    {(shape.gated ? 2.0 : 1.0) * f / t, h, blocks},
                    {h, f / t, blocks}};
  if (last) work.of_answers = {static_cast<double>(shape.vocabulary) / t, h, 1.0};
  work.pair_flops = 4.0 * h / t * blocks;
  work.cache_numbers = 2.0 * kv / t * blocks;
  work.layers = 4.0 * blocks + (first ? 1.0 : 0.0) + (last ? 1.0 : 0.0);
  work.sums = 2.0 * blocks + (first ? 1.0 : 0.0);
  for (const models::Layer& layer : models::layers(shape, chunk)) work.parameters += static_cast<double>(layer.count);
  return work;
}

StageCosts::StageCosts(StageWork work, RankSpeed speed, training::Precision precision)
    : work_(std::move(work)), speed_(speed), bytes_(training::number_bytes(precision)) {
  if (!speed_.device) return;
  const auto peak = speed_.device->peak(training::multiplies_in(precision));
  base::check(peak.has_value(), "a device multiplies in the scenario's format");
  peak_ = *peak;
  attention_peak_ = training::attention_peak(*speed_.device, precision);
  if (precision == training::Precision::float8) peak_share_ = speed_.device->float8_share();
}

double StageCosts::rate(double smallest, bool half) const {
  if (!speed_.device) return speed_.flops_per_s;
  const double peak = half ? attention_peak_ : peak_;
  return peak * (half ? 1.0 : peak_share_) * speed_.device->efficiency_of(smallest, peak);
}

double StageCosts::attention_rate() const {
  return speed_.device ? attention_peak_ * speed_.device->attention_efficiency() : speed_.flops_per_s;
}

double StageCosts::bytes_s(double bytes) const {
  if (speed_.device) return speed_.device->memory_s(bytes);
  return speed_.bytes_per_s ? bytes / *speed_.bytes_per_s : 0.0;
}

PassTime StageCosts::time(const Load& load, double reads, bool many_rows) const {
  constexpr double no_end = std::numeric_limits<double>::max();
  PassTime sum;
  const auto add = [&](double flops_s, double memory_s) {
    sum.seconds += std::max(flops_s, memory_s) / speed_.relative;
    if (memory_s > flops_s) sum.memory_s += memory_s / speed_.relative;
  };
  const auto multiply = [&](const StageWork::Matrix& matrix, double rows, bool half = false) {
    const double numbers = matrix.outputs * matrix.inputs * matrix.count;
    const double smallest = std::min({many_rows ? no_end : rows, matrix.outputs, matrix.inputs});
    add(2.0 * rows * numbers / rate(smallest, half),
        bytes_s(reads * numbers * (half ? bytes_.activation : bytes_.product)));
  };
  if (!(load.tokens > 0.0)) return sum;
  for (const StageWork::Matrix& matrix : work_.of_tokens) multiply(matrix, load.tokens);
  if (work_.of_answers && load.answers > 0.0) multiply(*work_.of_answers, load.answers, true);
  add(work_.pair_flops * load.pairs / attention_rate(), bytes_s(load.cached * cache_bytes_a_token()));
  if (speed_.device) sum.seconds += reads * work_.layers * speed_.device->launch_s / speed_.relative;
  return sum;
}

PassTime StageCosts::share(const Load& load, double iterations) const { return time(load, iterations, true); }

}  // namespace simgrad::serving
