/// The storage from which the rows of a training come.
#include "training/learning/learning.h"
#include "training/session/training.h"

namespace simgrad::training {

/// Rows come from training.input's storage; where it has none, from the strategy's disks.
void Training::find_rows() {
  using Place = cluster::Storage::Place;
  const InputOptions& input = setup_.options.input;
  const std::optional<RowsOnDisk>& disk = traits_.disk;
  if (disk)
    disk_.emplace(cluster_, Place::host, disk->bandwidth_bytes_per_s, 0.0, record::TimePart::communicate_storage);
  if (input.from != InputFrom::memory) {
    input_.emplace(cluster_, input.from == InputFrom::local ? Place::host : Place::shared, *input.bandwidth_bytes_per_s,
                   input.latency_s.value_or(0.0), record::TimePart::communicate_input);
    rows_.emplace(*input_, input.terms(learning_.row_bytes()), world_.size());
  } else if (disk) {
    const auto row_bytes = static_cast<double>(learning_.row_bytes());
    rows_.emplace(*disk_,
                  RowSource::Terms{.cached = disk->cached,
                                   .bytes_a_row = disk->bytes_per_sample.value_or(row_bytes),
                                   .flops_a_row = disk->flops_per_sample},
                  world_.size());
    if (disk->cached)
      tally_.note(
          "workers read their rows from disk before their first round (storage), and the baseline has them in memory; "
          "bandwidth = \"none\" has them in memory, too");
  }
}

}  // namespace simgrad::training
