#include "strategies/buckets/bucket_stream.h"

#include <deque>
#include <map>
#include <utility>

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Pending;
using cluster::SideStream;
using values::Tensor;

struct BucketStream::Queue {
  std::size_t credits = 1;
  std::multimap<std::size_t, Begin> waiting;  ///< by bucket: the first one is the next
  std::deque<std::vector<Pending>> under_way;

  /// Sends the most urgent bucket of those that wait, once a credit is free.
  void send_next(const Communicator& comm) {
    while (under_way.size() >= credits) {
      for (Pending& message : under_way.front()) message.wait();
      under_way.pop_front();
    }
    // Buckets may be complete at one instant: that of an embedding takes no time behind that of the layer above it.
    SideStream::let_others_go_on();
    const auto next = waiting.extract(waiting.begin());
    under_way.push_back(next.mapped()(comm));
  }
};

BucketStream::BucketStream(const Communicator& comm, std::int64_t credits)
    : stream_(comm), queue_(std::make_shared<Queue>()) {
  queue_->credits = static_cast<std::size_t>(credits);
}

void BucketStream::ready(std::size_t bucket, Begin begin) {
  queue_->waiting.emplace(bucket, std::move(begin));
  stream_.start([queue = queue_](const Communicator& comm) {
    queue->send_next(comm);
    return Tensor();
  });
}

}  // namespace simgrad::strategies
