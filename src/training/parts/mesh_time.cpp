#include "training/parts/mesh_time.h"

#include <array>

namespace simgrad::training {

using record::Activity;
using record::TimePart;
using record::TimeParts;

void MeshTime::start_again(const TimeParts& now) {
  if (at_end) elsewhere += now - *at_end;
  at_end.reset();
}

double MeshTime::data_s(const TimeParts& all) const {
  constexpr std::array counted{TimePart::compute_reduction, TimePart::communicate_transfer, TimePart::wait_gradient,
                               TimePart::wait_worker,       TimePart::wait_transfer,        TimePart::wait_other};
  constexpr double rounding = 1e-12;
  const TimeParts spent = at_end.value_or(all) - elsewhere;
  double seconds = 0.0, whole = 0.0;
  for (const TimePart part : counted) seconds += spent[part];
  for (const Activity activity : {Activity::compute, Activity::communicate, Activity::wait}) whole += all.sum(activity);
  return seconds > rounding * whole ? seconds : 0.0;
}

}  // namespace simgrad::training
