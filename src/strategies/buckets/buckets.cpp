#include "strategies/buckets/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strategies/circumstances.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

namespace {

/// Parts of a model from the last on, in pieces of at least so many numbers; ascending. Parts without parameters in
/// front of all others make no piece longer.  places: by part from the last one on, that of its piece, counted from the
/// last one; or null.
template <class Part>
std::vector<Stretch> pieces_of(std::span<const Part> parts, const auto& full, std::vector<std::size_t>* places) {
  const auto some = std::ranges::find_if(parts, [](const Part& part) { return part.count > 0; });
  const std::ptrdiff_t first = some == parts.end() ? 0 : some - parts.begin();
  std::vector<Stretch> pieces;
  std::int64_t count = 0;
  for (std::ptrdiff_t i = std::ssize(parts) - 1; i >= 0; --i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    if (places) places->push_back(i >= first ? pieces.size() : pieces.size() - 1);
    count += part.count;
    if (i < first || (i > first && !full(count))) continue;
    pieces.push_back({part.first, count});
    count = 0;
  }
  std::ranges::reverse(pieces);
  return pieces;
}

}  // namespace

std::vector<Stretch> buckets_of(std::span<const models::Layer> layers, std::optional<double> bytes,
                                double number_bytes) {
  const auto full = [&](std::int64_t count) { return bytes && number_bytes * static_cast<double>(count) >= *bytes; };
  return pieces_of(layers, full, nullptr);
}

std::vector<std::int64_t> lengths_of(std::span<const Stretch> buckets) {
  std::vector<std::int64_t> lengths;
  for (const Stretch& bucket : buckets) lengths.push_back(bucket.count);
  return lengths;
}

void describe_bucket_size(base::Describer& d, std::optional<double>& bucket_bytes, std::string_view meaning) {
  d.quantity_or("bucket_size", bucket_bytes, base::Unit::bytes, "none", meaning, base::Bounds::above_zero());
}

double bytes_on_wire(const training::NumberBytes& bytes, const training::Compressor& compressor) {
  return compressor.bytes_per_number(bytes.wire);
}

std::optional<Refusal> bucket_updates_refusal(const Circumstances& circumstances) {
  if (const std::string whole = circumstances.needs_whole_gradient(); !whole.empty())
    return Refusal{
        "bucket_size",
        fmt::format("bucket_size updates each bucket as soon as its sum is there, but under {} the update of "
                    "one parameter depends on all; leave bucket_size out, or take an optimizer that works "
                    "element by element, without clip_norm",
                    whole)};
  if (circumstances.precision == training::Precision::float16)
    return Refusal{"bucket_size",
                   "bucket_size updates each bucket as soon as its sum is there, but under precision = \"float16\" an "
                   "overflow anywhere leaves the whole update out; take precision = \"bfloat16\", or leave bucket_size "
                   "out"};
  return {};
}

double hold_gradient(const Worker& worker, std::size_t unit) {
  const double bytes =
      worker.number_bytes().kept_gradient * static_cast<double>(worker.learning().units()[unit].begins);
  worker.memory().hold(record::MemoryPart::gradients, bytes);
  return bytes;
}

void note_single_bucket(Worker& worker) {
  worker.note("bucket_size: the model has one layer, so that its gradient is one bucket, and nothing overlaps");
}

UnitBuckets::UnitBuckets(const std::vector<training::ModelUnit>& units, double bytes, double number_bytes, bool split) {
  const auto full = [&](std::int64_t count) { return number_bytes * static_cast<double>(count) >= bytes; };
  std::vector<std::size_t> place;
  std::vector<Stretch> whole = pieces_of(std::span(units), full, &place);
  std::ranges::reverse(place);
  std::vector<Run> pieces;  // of each bucket of whole units
  for (const Stretch& bucket : whole) {
    const double wanted = split ? std::ceil(number_bytes * static_cast<double>(bucket.count) / bytes) : 1.0;
    const collectives::Split cut(bucket.count, std::max(1, static_cast<int>(wanted)));
    pieces.push_back({stretches_.size(), stretches_.size() + static_cast<std::size_t>(cut.chunks())});
    for (int k = 0; k < cut.chunks(); ++k)
      stretches_.push_back({bucket.first + cut.chunk(k).first, cut.chunk(k).count});
  }
  for (std::size_t u = 0; u < units.size(); ++u) {
    const Stretch unit{units[u].first, units[u].count};
    const std::size_t bucket = whole.size() - 1 - place[u];
    const Run& all = pieces[bucket];
    Run unit_run = all;
    while (unit_run.first + 1 < unit_run.end && stretches_[unit_run.first].end() <= unit.first) ++unit_run.first;
    while (unit_run.first + 1 < unit_run.end && stretches_[unit_run.end - 1].first >= unit.end()) --unit_run.end;
    of_unit_.push_back(unit_run);
    // Units without parameters, in front of all others, complete nothing.
    const bool last = unit.first == whole[bucket].first && (unit.count > 0 || (whole[bucket].count == 0 && u == 0));
    completed_by_.push_back(last ? all : Run{});
  }
}

Tensor UnitBuckets::parameters(const training::ModelUnit& unit, std::size_t number,
                               const std::function<Tensor(std::size_t bucket)>& of_bucket) const {
  const Run unit_run = of_unit_[number];
  std::vector<Tensor> parts;
  for (std::size_t b = unit_run.first; b < unit_run.end; ++b) parts.push_back(of_bucket(b));
  return values::slice(parts.size() == 1 ? parts.front() : values::concatenate(parts),
                       unit.first - stretches_[unit_run.first].first, unit.count);
}

}  // namespace simgrad::strategies
