/// A loop whose passes do not depend on each other, on some threads that end with it: whoever forks later has none.
#pragma once

#include <cstddef>
#include <functional>

namespace simgrad::base {

/// Calls body(0), ..., body(count - 1), each once, in any order and from several threads, of which the caller is one.
/// A thread that the system does not give is done without.  threads: at most so many; 1 or less: the caller alone, in
/// order.  body: throws nothing.
void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t i)>& body);

}  // namespace simgrad::base
