#include "collectives/parts.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace simgrad::collectives {

using values::Tensor;

Parts::Parts(const Stretch& stretch, Tensor x, std::int64_t length) {
  if (is_length_alone(x) && x.size() == length) {
    length_alone_ = std::move(x);
    return;
  }
  if (x) empty_ = values::slice(x, 0, 0);
  if (stretch.count > 0) parts_.emplace(stretch.first, std::move(x));
}

Tensor Parts::take(const Stretch& wanted) {
  if (length_alone_) return stretches_.take(length_alone_, wanted);
  if (wanted.count == 0) return empty_;
  std::vector<Tensor> found;
  auto at = std::prev(parts_.upper_bound(wanted.first));
  for (std::int64_t first = wanted.first; first < wanted.end(); ++at) {
    base::check(at != parts_.end() && at->first <= first, "a collective sends what a member does not have");
    const std::int64_t skipped = first - at->first;
    const std::int64_t count = std::min(at->second.size() - skipped, wanted.end() - first);
    found.push_back(values::slice(at->second, skipped, count));
    first += count;
  }
  return values::concatenate(found);
}

void Parts::put(const Stretch& place, Tensor x) {
  if (length_alone_) return;
  if (!empty_ && x) empty_ = values::slice(x, 0, 0);
  if (place.count == 0) return;
  cut(place.first);
  cut(place.end());
  parts_.erase(parts_.lower_bound(place.first), parts_.lower_bound(place.end()));
  parts_.emplace(place.first, std::move(x));
}

void Parts::cut(std::int64_t first) {
  auto across = parts_.lower_bound(first);
  if (across == parts_.begin()) return;
  --across;
  const std::int64_t before = first - across->first;
  if (before >= across->second.size()) return;
  parts_.emplace(first, values::slice(across->second, before, across->second.size() - before));
  across->second = values::slice(across->second, 0, before);
}

}  // namespace simgrad::collectives
