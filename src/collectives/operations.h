/// The collectives that there is one algorithm for: what a listing says of each.
#pragma once

#include <span>

#include "base/describe.h"

namespace simgrad::collectives {

std::span<const base::About> operations();

}  // namespace simgrad::collectives
