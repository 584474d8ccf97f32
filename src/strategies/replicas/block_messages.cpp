#include "strategies/replicas/block_messages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;

BlockStream::BlockStream(Worker& worker, BlockReplica& replica, const collectives::Allreduce& algorithm,
                         SendOrder order)
    : worker_(worker),
      replica_(replica),
      algorithm_(algorithm),
      order_(order),
      stream_(worker.comm()),
      sums_(std::make_shared<Sums>(replica.blocks())),
      stages_(replica.blocks(), Stage::complete),
      messages_(replica.blocks()),
      tasks_(replica.blocks(), -1) {}

void BlockStream::train() {
  worker_.keep_gradients(false);
  try {
    bool goes_on = worker_.continues(replica_.state());
    while (goes_on) {
      worker_.gradient(*this, {});
      forward_ = true;
      if (!worker_.ends_after(replica_.state().step + 1)) continue;
      for (std::size_t b = 0; b < replica_.blocks(); ++b) conclude(b);  // no forward pass follows
      finish_step();
      goes_on = worker_.continues(replica_.state());
    }
  } catch (const TrainingIsOver&) {  // the forward pass that has begun is of no use
  }
}

bool BlockStream::overlaps(std::size_t b, std::size_t unit) const {
  const training::ModelUnit& model_unit = worker_.learning().units()[unit];
  const Block& block = replica_.place(b);
  return block.first < model_unit.first + model_unit.count && model_unit.first < block.first + block.count;
}

void BlockStream::enter(std::size_t unit) {
  if (!forward_ || !under_way_) return;
  for (std::size_t b = 0; b < replica_.blocks(); ++b)
    if (overlaps(b, unit) || (stages_[b] == Stage::sent && (*sums_)[b])) conclude(b);
  report_if_complete();
}

Tensor BlockStream::parameters(std::size_t unit) const {
  const training::ModelUnit& model_unit = worker_.learning().units()[unit];
  std::vector<Tensor> pieces;
  for (std::size_t b = 0; b < replica_.blocks(); ++b) {
    if (!overlaps(b, unit)) continue;
    const Block& block = replica_.place(b);
    const std::int64_t first = std::max(model_unit.first, block.first);
    const std::int64_t end = std::min(model_unit.first + model_unit.count, block.first + block.count);
    pieces.push_back(values::slice(replica_.w(b), first - block.first, end - first));
  }
  return values::concatenate(pieces);
}

void BlockStream::complete(std::size_t unit, const Tensor& g) {
  if (forward_) {  // the last unit: the backward pass has begun
    forward_ = false;
    under_way_ = true;
    queue_ = order_of_sending();
    sent_ = 0;
    std::ranges::fill(stages_, Stage::computing);
    worker_.memory().raise(record::MemoryPart::gradients,
                           worker_.number_bytes().kept_gradient * static_cast<double>(g.size()));
  }
  const std::int64_t first = worker_.learning().units()[unit].first;
  for (std::size_t b = replica_.blocks(); b-- > 0;) {
    if (stages_[b] != Stage::computing || replica_.place(b).first < first) continue;
    const bool sums = replica_.due(b) && replica_.sums(b);
    if (!sums) replica_.step_alone(b, g);
    stages_[b] = replica_.due(b) ? Stage::ready : Stage::complete;
    messages_[b] = sums ? values::slice(g, replica_.place(b).first, replica_.place(b).count) : replica_.w(b);
  }
  send_ready();
}

/// The blocks that are due, in the order in which all replicas send them.
std::vector<std::size_t> BlockStream::order_of_sending() const {
  std::vector<std::size_t> all(replica_.blocks());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (order_ == SendOrder::ready) std::ranges::reverse(all);
  if (order_ == SendOrder::movement)
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [this](std::size_t b) { return replica_.schedule().movement(b); });
  std::erase_if(all, [this](std::size_t b) { return !replica_.due(b); });
  return all;
}

void BlockStream::send_ready() {
  const bool one_collective = algorithm_.is_one_collective(worker_.comm());
  for (; sent_ < queue_.size() && stages_[queue_[sent_]] == Stage::ready; ++sent_) {
    const std::size_t b = queue_[sent_];
    (*sums_)[b] = {};
    worker_.memory().hold(record::MemoryPart::buckets, worker_.bucket_bytes(replica_.place(b).count));
    const auto sum = [algorithm = &algorithm_, message = std::exchange(messages_[b], {})](const Communicator& comm) {
      return (*algorithm)(comm, message);
    };
    const auto keep = [sums = sums_, b](Tensor result) { return (*sums)[b] = std::move(result); };
    tasks_[b] = one_collective ? stream_.start_collective(sum, keep)
                               : stream_.start([sum, keep](const Communicator& comm) { return keep(sum(comm)); });
    stages_[b] = Stage::sent;
  }
}

/// Blocks until the block's sum has come, and takes the step with it.
void BlockStream::conclude(std::size_t b) {
  if (stages_[b] != Stage::sent) return;
  stream_.wait_until_over(tasks_[b]);
  worker_.memory().release(record::MemoryPart::buckets, worker_.bucket_bytes(replica_.place(b).count));
  const Tensor sum = std::exchange((*sums_)[b], {});
  if (replica_.sums(b))
    replica_.step_together(b, sum);
  else
    replica_.average(b, sum);
  stages_[b] = Stage::complete;
}

void BlockStream::finish_step() {
  stream_.wait_for_all();  // drops the results, which all have come
  replica_.finish_step();
  under_way_ = false;
}

void BlockStream::report_if_complete() {
  if (!std::ranges::all_of(stages_, [](Stage stage) { return stage == Stage::complete; })) return;
  finish_step();
  if (!worker_.continues(replica_.state())) throw TrainingIsOver();
}

}  // namespace simgrad::strategies
