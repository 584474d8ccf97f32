/// The values that a rank's operators read, from this rank and from others.
#include "base/errors.h"
#include "strategies/operators/operator_passes.h"
#include "training/learning/learning.h"
#include "training/parts/along_scope.h"

namespace simgrad::strategies {

using training::AlongScope;
using training::Dimension;
using values::Tensor;

void OperatorPasses::finish_sends() {
  const AlongScope timed(worker_.mesh_time(), everyone_, Dimension::pipeline);
  cluster::wait_for_sends(sent_);
}

/// Receives are posted before the step, so that a sender never waits for this rank's work.
void OperatorPasses::post_receives() {
  for (int from = 0; from < everyone_.size(); ++from)
    for (const StepValue& value : plan_.messages(from, everyone_.rank()))
      coming_.emplace(value, everyone_.start_receive(from));
}

/// The input of a forward operator; nothing where it reads samples, or where only lengths are known.
Tensor OperatorPasses::input_of(const StepOperator& op) {
  Tensor x;
  for (const std::size_t input : plan_.units()[op.unit].inputs)
    x = received({plan_.numbers().of({input, op.micro, false}), input});
  return segments_.followed() ? x : Tensor();
}

/// The derivatives of a unit's output: the sum of those of its readers, in their order. Adding takes no time.
Tensor OperatorPasses::derivatives_of(const StepOperator& op) {
  Tensor d;
  for (const std::size_t reader : plan_.readers(op.unit)) {
    const Tensor derivatives = received({plan_.numbers().of({reader, op.micro, true}), op.unit});
    d = d && segments_.followed() ? d + derivatives : derivatives;
  }
  return d;
}

Tensor OperatorPasses::received(const StepValue& value) {
  if (const auto coming = coming_.find(value); coming != coming_.end()) {
    const AlongScope timed(worker_.mesh_time(), everyone_, Dimension::pipeline);
    const cluster::Packet packet = coming->second.wait();
    base::check(packet.note<StepValue>() == value, "messages arrive in the order of the plan");
    values_.emplace(value, packet.tensor);
    coming_.erase(coming);
  }
  return values_.at(value);
}

/// Keeps a value for this rank's operators, and sends it to the ranks that read it.
void OperatorPasses::give(std::size_t number, std::size_t of, const Tensor& made, std::int64_t rows) {
  const auto count = static_cast<double>(rows);
  const models::ModelOperator& unit = plan_.units()[of];
  const Tensor value = segments_.followed() ? made
                                            : zeros_on_the_wire(worker_.learning(), count * unit.output_numbers,
                                                                count * unit.output_bytes);
  values_.emplace(StepValue{number, of}, value);
  for (const auto& [to, sent] : plan_.sent_by(number))
    if (sent.of == of) sent_.push_back(everyone_.start_send(to, cluster::Packet(value, sent)));
}

}  // namespace simgrad::strategies
