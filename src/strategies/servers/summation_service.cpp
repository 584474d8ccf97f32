#include "strategies/servers/summation_service.h"

#include <utility>

#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Pending;

SummationService::SummationService(const Server& service, std::vector<SummedPiece> partitions,
                                   const training::Compressor& gradients, const training::Compressor& sums)
    : service_(service), partitions_(std::move(partitions)), gradients_(gradients, service), sums_(sums, service) {}

SummationService::Pushes SummationService::expect(std::size_t q) const {
  Pushes pushes(messages(q).size());
  for (std::vector<Pending>& message : pushes)
    for (int worker = 0; worker < service_.workers(); ++worker)
      message.push_back(service_.comm().start_receive(worker));
  return pushes;
}

std::vector<Tensor> SummationService::summed(std::size_t q, Pushes pushes) {
  const int n = service_.workers();
  std::vector<Tensor> sums;
  double add_flops = 0.0;
  for (const SummedPiece& piece : messages(q)) {
    std::vector<Tensor> parts;
    for (Pending& push : pushes[sums.size()]) parts.push_back(push.wait().tensor);
    gradients_.charge_decoding(service_.comm(), piece.count, n, piece.first);
    add_flops += static_cast<double>(n) * gradients_.add_flops(piece.count, piece.first);
    const Tensor sum = gradients_.compressor().concluded(values::decoded(values::sum(std::move(parts))));
    sums.push_back(sums_(service_.comm(), sum, piece.first));
  }
  service_.charge(add_flops);
  return sums;
}

std::vector<SummedPiece> SummationService::messages(std::size_t q) const {
  const int n = service_.workers();
  const SummedPiece& partition = partitions_[q];
  const auto shares = summation_shares(n, service_.servers() - n, partition.count);
  return messages_of(partition, shares[static_cast<std::size_t>(service_.shard())]);
}

}  // namespace simgrad::strategies
