#include <optional>

#include "catch.h"
#include "values/kernels.h"

namespace simgrad::values {

namespace {

constexpr int additions = 1'000'000;

/// A chain of additions of 1 for the pool.
Tensor chain(Dispatcher& dispatcher, Tensor link) {
  for (int k = 0; k < additions; ++k) {
    const Tensor inputs[] = {link};
    link = dispatcher.dispatch({.name = "link", .seconds = long_s, .overwrites = 1}, 1, inputs,
                               [](auto in, std::span<double> result) { result[0] = in[0][0] + 1.0; });
  }
  return link;
}

}  // namespace

TEST_CASE("a chain of a million pieces of work is computed") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads});
    CHECK(chain(dispatcher, dispatcher.zeros(1)).value()[0] == additions);
  }
}

TEST_CASE("a chain of a million pieces of work is dropped with its last handle, unexecuted") {
  Dispatcher dispatcher({.threads = 1, .pending_limit = 2 * additions});
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  Tensor last = chain(dispatcher, gate.tensor);
  gate.tensor = Tensor();
  last = Tensor();
  gate.open();
  CHECK(eventually([&] { return dispatcher.statistics().live_bytes == 0; }));
}

TEST_CASE("a chain of a million pieces of work is dropped at the dispatcher's end, unexecuted") {
  std::optional<Dispatcher> dispatcher(std::in_place,
                                       Dispatcher::Options{.threads = 1, .pending_limit = 2 * additions});
  Gate gate(*dispatcher);
  REQUIRE(gate.holds_a_thread());
  const Tensor last = chain(*dispatcher, gate.tensor);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.open();
  });
  dispatcher.reset();  // waits for the gate
  opener.join();
  CHECK(gate.tensor.value()[0] == 0.0);
  CHECK_THROWS_AS(last.value(), ValueError);
}

TEST_CASE("a failure goes down a chain of a million pieces of work") {
  Dispatcher dispatcher({.threads = 2});
  const Tensor bad = dispatcher.dispatch({.name = "bad"}, 1, {}, [](auto, auto) { throw std::runtime_error("no"); });
  CHECK_THROWS_WITH(chain(dispatcher, bad).value(), "bad: no");
}

TEST_CASE("work gives up its inputs and its closure as soon as it has run") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads});
    const auto token = std::make_shared<int>(0);
    Tensor input = dispatcher.constant(std::vector<double>(100));
    const Tensor inputs[] = {std::move(input)};
    Tensor result = dispatcher.dispatch({.name = "hold", .seconds = long_s}, 1, inputs,
                                        [token](auto, std::span<double> r) { r[0] = 1.0; });
    (void)result.value();
    CHECK(eventually([&] { return token.use_count() == 1; }));
  }
}

TEST_CASE("work that nobody can read any more is not run") {
  Dispatcher dispatcher({.threads = 1});
  const Log log;
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  (void)logged(dispatcher, log, "dropped", {logged(dispatcher, log, "its input")});
  const Tensor kept = logged(dispatcher, log, "kept");
  gate.open();
  (void)kept.value();
  wait_a_while();
  CHECK(log.names() == std::vector<std::string>{"kept"});
}

TEST_CASE("a dispatcher ends while much is unread, held and pending") {
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<Tensor> kept;
    Dispatcher dispatcher({.threads = 2, .unread_bytes_limit = 100});
    const Log log;
    for (int k = 0; k < 500; ++k) {
      const Tensor unread = logged(dispatcher, log, "unread");
      if (k % 3 == 0) kept.push_back(unread);
      if (k % 5 == 0) kept.push_back(2.0 * unread);
    }
  }
  SUCCEED();
}

}  // namespace simgrad::values
