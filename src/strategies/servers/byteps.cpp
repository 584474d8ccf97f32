#include "strategies/servers/byteps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cluster/ranks/communicator.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

using base::Bounds;
using cluster::Pending;

namespace {

/// Beyond so many messages to one of so many services the ratio is rounded. Every worker sends to every service: fewer,
/// the more of them there are.
std::int64_t most_messages(std::int64_t services) { return std::clamp<std::int64_t>(128 / services, 3, 8); }

/// Stretches whose lengths differ by at most one.
std::vector<Tensor> cut(const Tensor& x, std::int64_t pieces) {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t first = x.size() * i / pieces;
    all.push_back(values::slice(x, first, x.size() * (i + 1) / pieces - first));
  }
  return all;
}

/// A service's part of x, as the messages that carry it.
std::vector<Tensor> messages_of(const Tensor& x, const SummationShare& share) {
  if (share.messages == 0) return {};
  return cut(values::slice(x, share.first, share.count), share.messages);
}

/// Numbers in vectors that follow each other: where the next one begins.
class Place {
 public:
  explicit Place(std::int64_t first = 0) : next_(first) {}
  std::int64_t after(std::int64_t count) { return std::exchange(next_, next_ + count); }

 private:
  std::int64_t next_;
};

}  // namespace

std::vector<SummationShare> summation_shares(int n, int k, std::int64_t numbers) {
  // Weights of a worker's host and of a spare one. With n spare hosts or more these do everything.
  std::int64_t own = std::max(0, n - k);
  std::int64_t spare = 2 * (n - 1);
  if (n == 1) own = 1;  // nothing travels
  const std::int64_t all = n * own + k * spare;
  if (k == 0) spare = own;  // there is no ratio to keep
  std::int64_t factor = std::max<std::int64_t>(1, std::gcd(own, spare));
  const std::int64_t larger = std::max(own, spare);
  const std::int64_t most = most_messages(n + k);
  if (larger > most * factor) factor = (larger + most - 1) / most;
  const auto messages = [&](std::int64_t weight) {
    return weight == 0 ? 0 : static_cast<int>(std::max<std::int64_t>(1, (weight + factor / 2) / factor));
  };
  std::vector<SummationShare> shares;
  std::int64_t before = 0;
  for (int j = 0; j < n + k; ++j) {
    const std::int64_t weight = j < n ? own : spare;
    const std::int64_t first = numbers * before / all;
    before += weight;
    shares.push_back({first, numbers * before / all - first, messages(weight)});
  }
  return shares;
}

void BytePs::describe(base::Describer& d) {
  d.integer("spare_hosts", spare_hosts, "k: hosts without a worker that sum gradients, too",
            Bounds::between(0, 10'000));
  d.integer("partitions", partitions,
            "c: into how many pieces the vector is cut, so that pushes and pulls overlap but for 1/c of them",
            Bounds::between(1, 10'000));
  describe_compression(d, compression);
  d.component("answer_compression", answer_compression,
              "what services send instead of sums; with error feedback both ways (DoubleSqueeze)");
}

std::optional<Strategy::Unfit> BytePs::unfit(const Fit& fit) const {
  auto misfit = compression_misfit(compression, fit);
  return misfit ? misfit : compression_misfit(answer_compression, fit, "answer_compression");
}

std::vector<int> BytePs::hosts(int P) const {
  std::vector<int> all(static_cast<std::size_t>(2 * P + spare_hosts));
  std::iota(all.begin(), all.begin() + P, 0);
  std::iota(all.begin() + P, all.end(), 0);  // P services beside the workers, the others behind them
  return all;
}

void BytePs::operator()(Worker& worker) const {
  const int n = worker.workers();
  training::Encoder gradients(*compression, worker);
  const training::Encoder sums_code(*answer_compression, worker);
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = worker.gradient(state.w);
    std::vector<Pending> answers;
    Place sent;
    for (const Tensor& partition : cut(g, partitions)) {
      const auto shares = summation_shares(n, worker.servers() - n, partition.size());
      std::vector<Pending> under_way;
      for (int j = 0; j < worker.servers(); ++j)
        for (const Tensor& message : messages_of(partition, shares[static_cast<std::size_t>(j)])) {
          answers.push_back(worker.comm().start_receive(worker.server() + j));
          const Tensor code = gradients(worker.comm(), message, sent.after(message.size()));
          under_way.push_back(worker.comm().start_send(worker.server() + j, code));
        }
      for (Pending& push : under_way) push.wait();
    }
    std::vector<Tensor> sums;
    Place received;
    for (Pending& answer : answers) {
      const Tensor code = answer.wait().tensor;
      sums.push_back(sums_code.decoded(worker.comm(), code, received.after(code.size())));
    }
    worker.update(state, values::concatenate(sums));
  }
}

void BytePs::operator()(Server& service) const {
  const int n = service.workers();
  const int k = service.comm().size() - 2 * n;
  const auto lengths = cut(service.shape(), partitions);
  const auto share = [&](const Tensor& partition) {
    return summation_shares(n, k, partition.size())[static_cast<std::size_t>(service.shard())];
  };
  if (share(lengths.front()).messages == 0) return;  // spare hosts do everything
  // Of each partition in turn: the next one's pushes come in while this one is summed and sent back.
  const auto expect = [&](const Tensor& partition) {
    std::vector<std::vector<Pending>> pushes(static_cast<std::size_t>(share(partition).messages));
    for (std::vector<Pending>& message : pushes)
      for (int worker = 0; worker < n; ++worker) message.push_back(service.comm().start_receive(worker));
    return pushes;
  };
  const training::Encoder gradients(*compression, service);
  training::Encoder sums_code(*answer_compression, service);
  std::vector<Pending> answers;
  auto pushes = expect(lengths.front());
  for (std::size_t q = 0;; q = (q + 1) % lengths.size()) {  // the training ends it, while it waits for a push
    auto next = expect(lengths[(q + 1) % lengths.size()]);
    Place place(service.shape().size() * static_cast<std::int64_t>(q) / partitions + share(lengths[q]).first);
    std::vector<Tensor> sums;
    double add_flops = 0.0;
    for (std::vector<Pending>& message : pushes) {
      std::vector<Tensor> parts;
      for (Pending& push : message) parts.push_back(push.wait().tensor);
      const std::int64_t count = parts.front().size();
      const std::int64_t first = place.after(count);
      gradients.charge_decoding(service.comm(), count, n, first);
      add_flops += static_cast<double>(n) * gradients.add_flops(count, first);
      const Tensor sum = gradients.compressor().concluded(values::decoded(values::sum(std::move(parts))));
      sums.push_back(sums_code(service.comm(), sum, first));
    }
    service.comm().charge_reduction(add_flops);
    for (Pending& answer : answers) answer.wait();  // of the partition before
    answers.clear();
    for (const Tensor& sum : sums)
      for (int worker = 0; worker < n; ++worker) answers.push_back(service.comm().start_send(worker, sum));
    pushes = std::move(next);
  }
}

}  // namespace simgrad::strategies
