#include "strategies/servers/byteps.h"

#include <numeric>
#include <utility>

#include "cluster/ranks/communicator.h"
#include "strategies/servers/summation_service.h"
#include "strategies/servers/summation_shares.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;
using cluster::Pending;

void BytePs::describe(base::Describer& d) {
  d.integer("spare_hosts", spare_hosts, "k: hosts without a worker that sum gradients, too",
            Bounds::between(0, 10'000));
  d.integer("partitions", partitions,
            "c: into how many pieces the vector is cut, so that pushes and pulls overlap but for 1/c of them",
            Bounds::between(1, 10'000));
  describe_compression(d, compression);
  d.component("answer_compression", answer_compression,
              "the code that services send instead of sums; with error feedback both ways (DoubleSqueeze)");
}

Traits BytePs::traits(int P) const {
  const int servers = P + static_cast<int>(spare_hosts);
  std::vector<int> hosts(static_cast<std::size_t>(P + servers));
  std::iota(hosts.begin(), hosts.begin() + P, 0);
  std::iota(hosts.begin() + P, hosts.end(), 0);  // P services beside the workers, the others on spare hosts
  return {.servers = servers, .hosts = std::move(hosts), .many_to_many = true, .pairs = 2LL * P * servers};
}

std::optional<Refusal> BytePs::refusal(const Circumstances& circumstances) const {
  auto refusal = compression_refusal(compression, circumstances);
  return refusal ? refusal : compression_refusal(answer_compression, circumstances, "answer_compression");
}

void BytePs::operator()(Worker& worker) const {
  const int n = worker.workers();
  training::Encoder gradients(*compression, worker);
  const training::Encoder sums_code(*answer_compression, worker);
  State state = worker.start();
  const std::vector<SummedPiece> all = cut({0, state.w.size()}, partitions);
  while (worker.continues(state)) {
    const Tensor g = worker.gradient(state.w);
    std::vector<Pending> answers;
    for (const SummedPiece& partition : all) {
      const auto shares = summation_shares(n, worker.servers() - n, partition.count);
      std::vector<Pending> pushes;
      for (int j = 0; j < worker.servers(); ++j)
        for (const SummedPiece& message : messages_of(partition, shares[static_cast<std::size_t>(j)])) {
          answers.push_back(worker.comm().start_receive(worker.server() + j));
          const Tensor part = values::slice(g, message.first, message.count);
          const Tensor code = gradients(worker.comm(), part, message.first);
          pushes.push_back(worker.comm().start_send(worker.server() + j, code));
        }
      for (Pending& push : pushes) push.wait();
    }
    std::vector<Tensor> sums;
    std::int64_t received = 0;
    for (Pending& answer : answers) {
      const Tensor code = answer.wait().tensor;
      sums.push_back(sums_code.decoded(worker.comm(), code, std::exchange(received, received + code.size())));
    }
    worker.update(state, values::concatenate(sums));
  }
}

void BytePs::operator()(Server& server) const {
  const int n = server.workers();
  SummationService service(server, partitions, *compression, *answer_compression);
  if (!service.works()) return;  // spare hosts do everything
  std::vector<Pending> answers;
  auto pushes = service.expect(0);
  for (std::size_t q = 0;; q = service.after(q)) {  // the training ends it, while it waits for a push
    auto next = service.expect(service.after(q));   // they come in while this partition is summed and sent back
    const std::vector<Tensor> sums = service.summed(q, std::move(pushes));
    for (Pending& answer : answers) answer.wait();  // answers of the partition before
    answers.clear();
    for (const Tensor& sum : sums)
      for (int worker = 0; worker < n; ++worker) answers.push_back(server.comm().start_send(worker, sum));
    pushes = std::move(next);
  }
}

}  // namespace simgrad::strategies
