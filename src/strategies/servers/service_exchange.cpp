#include "strategies/servers/service_exchange.h"

#include <algorithm>
#include <utility>

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Pending;

void ServiceExchange::push(const Communicator& comm, const Tensor& g, const SummedPiece& piece) {
  const int n = worker_.workers();
  const auto shares = summation_shares(n, worker_.servers() - n, piece.count);
  std::vector<Pending> pushes;
  answers_.emplace_back();
  for (int j = 0; j < worker_.servers(); ++j)
    for (const SummedPiece& message : messages_of(piece, shares[static_cast<std::size_t>(j)])) {
      answers_.back().push_back({comm.start_receive(worker_.server() + j), message.first});
      const Tensor part = values::slice(g, message.first, message.count);
      const Tensor code = gradients_(comm, part, message.first);
      pushes.push_back(comm.start_send(worker_.server() + j, code));
    }
  for (Pending& push : pushes) push.wait();
}

Tensor ServiceExchange::sum(const Communicator& comm, bool last_first) {
  // On the stack of the actor that waits, which may end later than this object.
  std::vector<std::vector<Answer>> answers = std::exchange(answers_, {});
  const training::Encoder& sums = sums_;
  std::vector<std::vector<Tensor>> by_piece;
  for (std::vector<Answer>& piece : answers) {
    by_piece.emplace_back();
    for (Answer& answer : piece)
      by_piece.back().push_back(sums.decoded(comm, answer.message.wait().tensor, answer.first));
  }
  if (last_first) std::ranges::reverse(by_piece);
  std::vector<Tensor> all;
  for (const std::vector<Tensor>& piece : by_piece) all.insert(all.end(), piece.begin(), piece.end());
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
