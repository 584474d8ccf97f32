#include "training/learning/input.h"

#include <array>
#include <cmath>

namespace simgrad::training {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array input_places{
    Choice{"memory", "every worker holds its rows; reading them takes no time"},
    Choice{"local", "a disk in each worker's host"},
    Choice{"shared", "one storage whose bandwidth all workers share fairly, as they read"}};

}  // namespace

void InputOptions::describe(base::Describer& d) {
  d.choice("from", from, input_places, "storage from which the rows of a batch are read in every step");
  d.quantity("bytes_per_sample", bytes_per_sample, Unit::bytes,
             "bytes of a row there; default: 8 bytes a feature, a byte a colour of an image, 2 bytes a token",
             Bounds::above_zero());
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second, "bandwidth at which rows are read",
             Bounds::above_zero());
  d.quantity("latency", latency_s, Unit::seconds, "time before the first row of a batch; default 0s",
             Bounds::at_least(0));
  d.integer("prefetch", prefetch,
            "batches that a worker reads ahead while it computes and communicates; 0: none, default 1",
            Bounds::between(0, 1000));
  if (from != InputFrom::memory && !bandwidth_bytes_per_s)
    d.refuse("from", "rows that are read need a \"bandwidth\"; give one, or set from = \"memory\"");
  if (from == InputFrom::memory)
    for (const char* key : {"bytes_per_sample", "bandwidth", "latency", "prefetch"})
      if (d.given(key))
        d.refuse(key, std::string(key) +
                          " says how rows are read, but from = \"memory\" reads none; set from = \"local\" or "
                          "\"shared\", or leave it out");
}

InputPipeline::InputPipeline(const cluster::Communicator& comm, const InputOptions& options,
                             const cluster::Storage* storage, std::int64_t row_bytes)
    : comm_(comm),
      storage_(storage),
      bytes_per_row_(options.bytes_per_sample.value_or(static_cast<double>(row_bytes))),
      prefetch_(options.prefetch.value_or(1)) {
  if (storage_ && prefetch_ > 0) beside_.emplace(comm_);
}

void InputPipeline::next(std::int64_t rows, double share_of_row) {
  if (!storage_) return;
  const std::int64_t bytes = std::llround(share_of_row * bytes_per_row_ * static_cast<double>(rows));
  if (!beside_) return storage_->read(comm_, bytes);
  for (; ahead_ <= prefetch_; ++ahead_)
    beside_->start([storage = storage_, bytes](const cluster::Communicator& comm) {
      storage->read(comm, bytes);
      return values::Tensor();
    });
  beside_->wait(asked_++);
  --ahead_;
}

}  // namespace simgrad::training
