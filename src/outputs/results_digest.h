/// A hash of all that the files of results are made of.
#pragma once

#include <string>

#include "outputs/results.h"

namespace simgrad::outputs {

/// XXH3-128 over every described field of the results, real times too, and over the program that would write the files:
/// its version, and the size and the time of its own file. With equal digests, the files need not be written again.
std::string digest(const Results& results);

}  // namespace simgrad::outputs
