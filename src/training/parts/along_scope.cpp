#include "training/parts/along_scope.h"

#include <exception>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"
#include "training/parts/mesh_time.h"

namespace simgrad::training {

namespace {

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

AlongScope::AlongScope(MeshTime& time, const cluster::Communicator& comm, std::optional<Dimension> dimension)
    : time_(time),
      comm_(comm),
      dimension_(dimension),
      from_s_(comm.now()),
      before_(comm.actor()->parts(comm.now())),
      exceptions_(std::uncaught_exceptions()) {}

AlongScope::~AlongScope() {
  if (std::uncaught_exceptions() != exceptions_) {  // a killed actor's time is settled already
    time_.elsewhere += comm_.actor()->account().parts() - before_;
    return;
  }
  const record::TimeParts& parts = comm_.actor()->parts(comm_.now());
  time_.elsewhere += parts - before_;
  if (!dimension_) return;
  const double seconds = comm_.now() - from_s_;
  if (std::optional<double>* const sum = sum_along(time_.use, *dimension_)) {
    add(*sum, seconds);
    return;
  }
  const double waited = parts.sum(record::Activity::wait) - before_.sum(record::Activity::wait);
  add(time_.use.bubble_s, waited);
  add(time_.use.hop_s, seconds - waited);
}

}  // namespace simgrad::training
