#include "training/parts/along_scope.h"

#include <exception>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::training {

namespace {

double waited_s(const cluster::Communicator& comm) {
  return comm.actor()->parts(comm.now()).sum(record::Activity::wait);
}

void add(std::optional<double>& sum, double seconds) { sum = sum.value_or(0.0) + seconds; }

/// The time that is not divided; null along pipeline.
std::optional<double>* sum_along(record::MeshUse& use, Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor:
      return &use.tensor_s;
    case Dimension::context:
      return &use.context_s;
    case Dimension::expert:
      return &use.expert_s;
    default:
      return nullptr;
  }
}

}  // namespace

AlongScope::AlongScope(record::MeshUse& use, const cluster::Communicator& comm, Dimension dimension)
    : use_(use),
      comm_(comm),
      dimension_(dimension),
      from_s_(comm.now()),
      waited_before_s_(waited_s(comm)),
      exceptions_(std::uncaught_exceptions()) {}

AlongScope::~AlongScope() {
  if (std::uncaught_exceptions() != exceptions_) return;  // a killed actor's time is settled already
  const double seconds = comm_.now() - from_s_;
  if (std::optional<double>* const sum = sum_along(use_, dimension_)) {
    add(*sum, seconds);
    return;
  }
  const double waited = waited_s(comm_) - waited_before_s_;
  add(use_.bubble_s, waited);
  add(use_.hop_s, seconds - waited);
}

}  // namespace simgrad::training
