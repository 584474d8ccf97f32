#include "strategies/servers/service_exchange.h"

#include <utility>

namespace simgrad::strategies {

using cluster::Pending;

void ServiceExchange::push(const Tensor& g, const SummedPiece& piece) {
  const int n = worker_.workers();
  const auto shares = summation_shares(n, worker_.servers() - n, piece.count);
  std::vector<Pending> pushes;
  for (int j = 0; j < worker_.servers(); ++j)
    for (const SummedPiece& message : messages_of(piece, shares[static_cast<std::size_t>(j)])) {
      answers_.push_back({worker_.comm().start_receive(worker_.server() + j), message.first});
      const Tensor part = values::slice(g, message.first, message.count);
      const Tensor code = gradients_(worker_.comm(), part, message.first);
      pushes.push_back(worker_.comm().start_send(worker_.server() + j, code));
    }
  for (Pending& push : pushes) push.wait();
}

Tensor ServiceExchange::sum() {
  std::vector<Tensor> all;
  for (Answer& answer : std::exchange(answers_, {}))
    all.push_back(sums_.decoded(worker_.comm(), answer.message.wait().tensor, answer.first));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
