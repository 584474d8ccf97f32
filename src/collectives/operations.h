/// The listings of collectives that have one algorithm only.
#pragma once

#include <span>

#include "base/describe.h"

namespace simgrad::collectives {

std::span<const base::About> operations();

}  // namespace simgrad::collectives
