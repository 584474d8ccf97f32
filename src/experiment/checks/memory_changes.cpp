#include "experiment/checks/memory_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "outputs/text/number_text.h"
#include "strategies/replicas/allreduce.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "training/learning/layer_times.h"

namespace simgrad::experiment {

namespace {

using record::MemoryParts;
using strategies::Allreduce;
using strategies::Fsdp;
using strategies::Offload;
using strategies::Strategy;
using strategies::Zero;
using training::MemoryTerms;
using training::Precision;
using training::Recompute;

constexpr std::int64_t workers_most = 1024;  ///< times as many
constexpr std::size_t listed_most = 3;       ///< of the changes that are enough together

/// The options that are changed; the rest stays as the scenario has it.
struct Changes {
  std::optional<bool> at_once;  ///< no copies of gradients in buckets
  std::optional<Recompute> recompute;
  std::optional<std::int64_t> micro_batches;
  std::optional<std::int64_t> stage;
  std::optional<Offload> offload;
  std::optional<Precision> precision;
  std::optional<std::int64_t> workers;
};

/// A kind of change: makes the k-th value's change; the values go from the smallest change to the largest.
struct Kind {
  std::size_t values = 0;
  std::function<void(Changes&, std::size_t k)> change;
};

class Search {
 public:
  Search(const Settings& settings, const Strategy& strategy, const MemoryTerms& terms, double limit_bytes,
         const std::function<std::int64_t(std::int64_t)>& rows_of)
      : settings_(settings), strategy_(strategy), terms_(terms), limit_bytes_(limit_bytes), rows_of_(rows_of) {
    if (const auto* allreduce = dynamic_cast<const Allreduce*>(&strategy_); allreduce && allreduce->bucket_bytes)
      add(&Changes::at_once, std::vector{true});
    add_recompute();
    add_micro_batches();
    add_stages();
    add_offload();
    add_precision();
    std::vector<std::int64_t> workers;
    for (std::int64_t times = 2; times <= workers_most; times *= 2) workers.push_back(terms.workers * times);
    add(&Changes::workers, workers);
  }

  /// The changes of so many kinds that make the worker fit, with the memory that it then needs.
  std::vector<std::string> fitting(std::size_t size) const {
    std::vector<std::string> texts;
    for (unsigned chosen = 1; chosen < 1U << kinds_.size(); ++chosen)
      if (static_cast<std::size_t>(std::popcount(chosen)) == size)
        if (const std::string found = smallest_of(chosen); !found.empty()) texts.push_back(found);
    return texts;
  }

  std::size_t kinds() const { return kinds_.size(); }

 private:
  template <class Value>
  void add(std::optional<Value> Changes::*member, std::vector<Value> values) {
    if (values.empty()) return;
    const std::size_t size = values.size();
    kinds_.push_back(
        {size, [member, all = std::move(values)](Changes& changes, std::size_t k) { changes.*member = all[k]; }});
  }

  void add_recompute() {
    const bool selective = std::ranges::any_of(terms_.layers, [](const models::Layer& layer) {
      return layer.selective.numbers + layer.selective.bytes > 0.0;
    });
    std::vector<Recompute> values;
    for (const Recompute value : {Recompute::selective, Recompute::full})
      if (value > terms_.recompute && (value == Recompute::full || selective)) values.push_back(value);
    if (!settings_.model.model->takes_sparse_rows()) add(&Changes::recompute, values);
  }

  void add_micro_batches() {
    const auto now = micro_batches();
    std::vector<std::int64_t> values;
    for (std::int64_t k = 2; now && k <= terms_.rows; k *= 2)
      if (k > *now) values.push_back(k);
    add(&Changes::micro_batches, values);
  }

  void add_stages() {
    const auto* const zero = dynamic_cast<const Zero*>(&strategy_);
    if (dynamic_cast<const Fsdp*>(&strategy_) || !settings_.training.optimizer->elementwise()) return;
    std::vector<std::int64_t> values;
    for (std::int64_t stage = zero ? zero->stage + 1 : 1; stage <= 3; ++stage) values.push_back(stage);
    add(&Changes::stage, values);
  }

  void add_offload() {
    const auto* const zero = dynamic_cast<const Zero*>(&strategy_);
    const auto* const fsdp = dynamic_cast<const Fsdp*>(&strategy_);
    const Offload now = zero ? zero->host.offload : fsdp ? fsdp->host.offload : Offload::none;
    std::vector<Offload> values;
    for (const Offload value : {Offload::optimizer, Offload::parameters})
      if (value > now && (fsdp || (zero && (value == Offload::optimizer || zero->stage == 3)))) values.push_back(value);
    if (all_devices([](const cluster::Device* device) { return device && device->host_link_bytes_per_s; }))
      add(&Changes::offload, values);
  }

  void add_precision() {
    const Precision now = settings_.training.precision;
    if ((now != Precision::float64 && now != Precision::float32) || settings_.model.model->takes_sparse_rows() ||
        (!micro_batches() && !dynamic_cast<const Zero*>(&strategy_)))
      return;
    const auto multiplies = [](const cluster::Device* device) {
      return !device || device->peak(training::multiplies_in(Precision::bfloat16));
    };
    if (all_devices(multiplies)) add(&Changes::precision, std::vector{Precision::bfloat16});
  }

  template <class Has>
  bool all_devices(Has has) const {
    for (int worker = 0; worker < settings_.cluster.workers; ++worker)
      if (!has(settings_.cluster.device_of(worker))) return false;
    return true;
  }

  /// None: the strategy has no micro-batches.
  std::optional<std::int64_t> micro_batches() const {
    if (const auto* allreduce = dynamic_cast<const Allreduce*>(&strategy_)) return allreduce->micro_batches;
    if (const auto* zero = dynamic_cast<const Zero*>(&strategy_)) return zero->micro_batches;
    if (const auto* fsdp = dynamic_cast<const Fsdp*>(&strategy_)) return fsdp->micro_batches;
    return std::nullopt;
  }

  template <class Its>
  static MemoryParts memory_of(Its strategy, const Changes& changes, const MemoryTerms& terms) {
    if (changes.micro_batches) strategy.micro_batches = *changes.micro_batches;
    if constexpr (requires { strategy.bucket_bytes; })
      if (changes.at_once) strategy.bucket_bytes.reset();
    if constexpr (requires { strategy.host; })
      if (changes.offload) strategy.host.offload = *changes.offload;
    return strategy.memory(terms);
  }

  Zero sharded(std::int64_t stage) const {
    Zero zero;
    const std::optional<double> default_bucket_bytes = zero.bucket_bytes;
    if (const auto* given_zero = dynamic_cast<const Zero*>(&strategy_)) {
      zero = *given_zero;
      if (given_zero->stage == 3) zero.bucket_bytes = default_bucket_bytes;
    } else
      zero.micro_batches = micro_batches().value_or(1);
    zero.stage = stage;
    if (stage == 3) zero.bucket_bytes.reset();
    return zero;
  }

  MemoryParts memory(const Changes& changes) const {
    MemoryTerms terms = terms_;
    if (changes.recompute) terms.recompute = *changes.recompute;
    if (changes.precision)
      terms.bytes =
          training::number_bytes(*changes.precision, settings_.training.wire, settings_.training.gradient_precision);
    if (changes.workers) {
      terms.workers = *changes.workers;
      terms.rows = rows_of_(terms.workers);
    }
    if (changes.stage) {
      Changes others = changes;
      others.at_once.reset();
      return memory_of(sharded(*changes.stage), others, terms);
    }
    if (const auto* allreduce = dynamic_cast<const Allreduce*>(&strategy_))
      return memory_of(*allreduce, changes, terms);
    if (const auto* zero = dynamic_cast<const Zero*>(&strategy_)) return memory_of(*zero, changes, terms);
    if (const auto* fsdp = dynamic_cast<const Fsdp*>(&strategy_)) return memory_of(*fsdp, changes, terms);
    return strategy_.memory(terms);
  }

  bool fits(const Changes& changes) const { return memory(changes).sum() <= limit_bytes_; }

  std::string text(const Changes& changes) const {
    std::vector<std::string> words;
    const bool is_zero = dynamic_cast<const Zero*>(&strategy_) != nullptr;
    if (changes.at_once && !changes.stage) words.emplace_back("bucket_size = \"none\"");
    if (changes.stage)
      words.push_back(is_zero ? fmt::format("stage = {}", *changes.stage)
                              : fmt::format("zero(stage={})", *changes.stage));
    if (changes.recompute)
      words.push_back(
          fmt::format("training.recompute = \"{}\"", *changes.recompute == Recompute::full ? "full" : "selective"));
    if (changes.micro_batches) words.push_back(fmt::format("micro_batches = {}", *changes.micro_batches));
    if (changes.offload)
      words.push_back(
          fmt::format("offload = \"{}\"", *changes.offload == Offload::optimizer ? "optimizer" : "parameters"));
    if (changes.precision) words.push_back(fmt::format("training.precision = \"{}\"", name(*changes.precision)));
    if (changes.workers) words.push_back(fmt::format("cluster.workers = {}", *changes.workers));
    return fmt::format("{} ({})", base::joined(words, " and "), outputs::byte_count(memory(changes).sum()));
  }

  /// The smallest values of the chosen kinds (a bit each) with which the worker fits, or empty.
  std::string smallest_of(unsigned chosen) const {
    std::vector<std::size_t> values(kinds_.size());
    const auto changes = [&] {
      Changes all;
      for (std::size_t d = 0; d < kinds_.size(); ++d)
        if (chosen >> d & 1U) kinds_[d].change(all, values[d]);
      return all;
    };
    for (std::size_t d = 0; d < kinds_.size(); ++d) values[d] = kinds_[d].values - 1;
    if (!fits(changes())) return {};
    for (std::size_t d = kinds_.size(); d-- > 0;) {
      if (!(chosen >> d & 1U)) continue;
      for (values[d] = 0; !fits(changes());) ++values[d];
    }
    return text(changes());
  }

  const Settings& settings_;
  const Strategy& strategy_;
  const MemoryTerms& terms_;
  double limit_bytes_;
  const std::function<std::int64_t(std::int64_t)>& rows_of_;
  std::vector<Kind> kinds_;
};

}  // namespace

std::vector<std::string> changes_that_fit(const Settings& settings, const Strategy& strategy, const MemoryTerms& terms,
                                          double limit_bytes,
                                          const std::function<std::int64_t(std::int64_t)>& rows_of) {
  const Search search(settings, strategy, terms, limit_bytes, rows_of);
  for (std::size_t size = 1; size <= search.kinds(); ++size) {
    std::vector<std::string> found = search.fitting(size);
    if (found.empty()) continue;
    if (size > 1 && found.size() > listed_most) found.resize(listed_most);
    return found;
  }
  return {};
}

}  // namespace simgrad::experiment
