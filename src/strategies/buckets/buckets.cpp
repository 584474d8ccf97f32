#include "strategies/buckets/buckets.h"

#include <fmt/format.h>

#include <algorithm>

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

void describe_bucket_size(base::Describer& d, std::optional<double>& bucket_bytes, std::string_view meaning) {
  d.quantity_or("bucket_size", bucket_bytes, base::Unit::bytes, "none", meaning, base::Bounds::above_zero());
}

void describe_credits(base::Describer& d, std::int64_t& credits, const std::optional<double>& bucket_bytes) {
  d.integer(
      "credits", credits,
      "buckets of a rank that are under way at a time; of those that wait, the first layers' goes first; a receiver "
      "takes a sender's buckets in the order in which they began",
      base::Bounds::between(1, 10'000));
  if (!bucket_bytes && credits != default_credits)
    d.refuse("credits",
             "credits bounds the buckets that are under way, but without bucket_size there are none; give bucket_size, "
             "or leave credits out");
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

UnitBuckets::UnitBuckets(const std::vector<training::ModelUnit>& units, double bytes, double number_bytes) {
  const auto full = [&](std::int64_t count) { return number_bytes * static_cast<double>(count) >= bytes; };
  stretches_ = pieces_of(std::span(units), full, &of_unit_);
  std::ranges::reverse(of_unit_);
  for (std::size_t& bucket : of_unit_) bucket = stretches_.size() - 1 - bucket;
  // Units without parameters, in front of all others, complete nothing.
  for (std::size_t u = 0; u < units.size(); ++u) {
    const Stretch& its = stretches_[of_unit_[u]];
    completes_.push_back(units[u].first == its.first && (units[u].count > 0 || (its.count == 0 && u == 0)));
  }
}

}  // namespace simgrad::strategies
