#include "strategies/buckets/state_pieces.h"

#include "base/errors.h"

namespace simgrad::strategies {

StatePieces::StatePieces(const State& state, const std::vector<std::int64_t>& lengths) {
  base::check(state.own.empty() && state.joint.empty(), "a state in pieces has no vectors of the strategy");
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    State piece{
        .w = values::slice(state.w, first, length), .step = state.step, .optimizer_updates = state.optimizer_updates};
    for (const Tensor& vector : state.optimizer) piece.optimizer.push_back(values::slice(vector, first, length));
    pieces_.push_back(std::move(piece));
    first += length;
  }
}

State StatePieces::joined() const {
  const auto whole = [&](const auto& vector_of) {
    std::vector<Tensor> parts;
    for (const State& piece : pieces_) parts.push_back(vector_of(piece));
    return values::concatenate(parts);
  };
  State state{.w = whole([](const State& piece) { return piece.w; }),
              .step = pieces_.front().step,
              .optimizer_updates = pieces_.front().optimizer_updates};
  for (std::size_t i = 0; i < pieces_.front().optimizer.size(); ++i)
    state.optimizer.push_back(whole([i](const State& piece) { return piece.optimizer[i]; }));
  for (const State& piece : pieces_) base::check(piece.step == state.step, "all pieces are after equally many updates");
  return state;
}

}  // namespace simgrad::strategies
