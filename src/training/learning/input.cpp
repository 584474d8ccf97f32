#include "training/learning/input.h"

#include <array>
#include <cmath>

#include "cluster/ranks/inbox.h"
#include "cluster/ranks/storage.h"

namespace simgrad::training {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array input_places{
    Choice{
        "memory",
        "every worker holds its rows; reading them takes no time, unless a strategy has a disk of its own (mapreduce)"},
    Choice{"local", "a disk in each host, whose bandwidth the host's workers share fairly, as they read"},
    Choice{"shared", "one storage whose bandwidth all workers share fairly, as they read"}};

}  // namespace

void InputOptions::describe(base::Describer& d) {
  d.choice("from", from, input_places, "storage from which the rows of a batch are read");
  d.quantity("bytes_per_sample", bytes_per_sample, Unit::bytes,
             "bytes of a row in the storage; default: 8 bytes per feature, 1 per colour of an image's pixel, 2 per "
             "token of text",
             Bounds::above_zero());
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second, "bandwidth at which rows are read",
             Bounds::above_zero());
  d.quantity("latency", latency_s, Unit::seconds, "time before the first row of a batch; default: 0s",
             Bounds::at_least(0));
  d.integer("prefetch", prefetch,
            "batches that a worker reads ahead while it computes and communicates; 0: none; default: 1",
            Bounds::between(0, 1000));
  d.flag("cache", cache,
         "whether rows stay in memory once they are read: a worker reads all rows of its part before its first batch, "
         "and again after its host has crashed; false: every batch is read");
  d.number("flops_per_sample", flops_per_sample, "flops of parsing and scaling a row, each time after it is read",
           Bounds::at_least(0));
  if (cache && d.given("prefetch"))
    d.refuse("prefetch",
             "prefetch says how many batches are read ahead, but with cache = true a worker reads all of its rows "
             "before the first one; leave one of them out");
  if (from != InputFrom::memory && !bandwidth_bytes_per_s)
    d.refuse("from", "rows that are read need a \"bandwidth\"; give one, or set from = \"memory\"");
  if (from != InputFrom::memory) return;
  const auto refuse = [&](const std::string& key) {
    d.refuse(key,
             key +
                 " says how rows are read, but from = \"memory\" reads none; set from = \"local\" or \"shared\", or "
                 "leave it out");
  };
  for (const char* key : {"bytes_per_sample", "bandwidth", "latency", "prefetch"})
    if (d.given(key)) refuse(key);
  if (cache) refuse("cache");
  if (flops_per_sample > 0.0) refuse("flops_per_sample");
}

RowSource::Terms InputOptions::terms(std::int64_t row_bytes) const {
  return {.cached = cache,
          .prefetch = cache ? 0 : prefetch.value_or(1),
          .bytes_a_row = bytes_per_sample.value_or(static_cast<double>(row_bytes)),
          .flops_a_row = flops_per_sample};
}

InputPipeline::InputPipeline(const cluster::Communicator& comm, RowSource* source, const Batches& batches)
    : comm_(comm), source_(source), batches_(batches) {
  if (source_ && source_->terms().prefetch > 0) beside_.emplace(comm_);
}

/// The rows that are read now: those of the batch, or where rows are cached those of its part that are not in memory.
/// Returns nothing where all of them are.
std::optional<InputPipeline::Amount> InputPipeline::to_read(const RowsToRead& rows) {
  if (!source_) return {};
  const RowSource::Terms& terms = source_->terms();
  const std::int64_t count = terms.cached ? cached().missing(key(rows), rows.parts, of_part(rows)) : rows.count;
  if (terms.cached && count == 0) return {};
  return Amount{.bytes = std::llround(rows.share_of_row * terms.bytes_a_row * static_cast<double>(count)),
                .flops = terms.flops_a_row * static_cast<double>(count)};
}

void InputPipeline::keep(const RowsToRead& rows) {
  if (source_ && source_->terms().cached) cached().add(key(rows), of_part(rows));
}

double InputPipeline::next(const RowsToRead& rows) {
  const std::optional<Amount> amount = to_read(rows);
  if (!amount) return 0.0;
  if (!beside_) {
    source_->storage().read(comm_, amount->bytes);
    return amount->flops;
  }
  for (; ahead_ <= source_->terms().prefetch; ++ahead_)
    beside_->start([storage = &source_->storage(), bytes = amount->bytes](const cluster::Communicator& comm) {
      storage->read(comm, bytes);
      return values::Tensor();
    });
  beside_->wait(asked_++);
  --ahead_;
  return amount->flops;
}

std::optional<double> InputPipeline::next_unless(cluster::Inbox& news, const RowsToRead& rows) {
  if (beside_) return next(rows);
  const std::optional<Amount> amount = to_read(rows);
  if (!amount) return 0.0;
  return news.use_storage(source_->storage(), amount->bytes) ? std::optional(amount->flops) : std::nullopt;
}

}  // namespace simgrad::training
