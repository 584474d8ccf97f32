// Whether transfers of links may ever meet.
#include "cluster/computed/link_claims.h"

#include <vector>

#include "catch.h"

namespace link_claims_test {

using simgrad::cluster::LinkClaims;
using Transfer = LinkClaims::Transfer;

namespace {

const std::vector<int> zero{0}, one{1}, both{0, 1};

}  // namespace

TEST_CASE("transfers from one end or to one end are apart, others on one link are not") {
  const auto shared = [](const std::vector<Transfer>& transfers) { return LinkClaims::shared(transfers); };
  CHECK(shared({{1, 2, zero}, {1, 3, zero}, {1, 4, both}}).empty());
  CHECK(shared({{1, 9, zero}, {2, 9, zero}}).empty());
  CHECK(shared({{1, 2, zero}, {3, 4, one}}).empty());
  CHECK(shared({{1, 2, zero}, {3, 4, both}}) == zero);
  CHECK(shared({{1, 2, both}, {3, 4, both}, {5, 6, one}}) == both);
  // Any two of these have an end in common, but all three do not.
  CHECK(shared({{1, 2, zero}, {1, 3, zero}, {4, 3, zero}}) == zero);
}

TEST_CASE("transfers of two groups on one link are contended unless they have an end in common") {
  LinkClaims claims;
  const std::vector<Transfer> first{{1, 2, zero}}, next{{1, 3, zero}}, other{{5, 6, both}}, elsewhere{{5, 6, one}};
  CHECK_FALSE(claims.claim(first, 0).contended);
  CHECK_FALSE(claims.claim(next, 1).contended);
  CHECK_FALSE(claims.claim(elsewhere, 2).contended);
  const auto verdict = claims.claim(other, 3);
  REQUIRE(verdict.contended);
  CHECK(*verdict.contended == 0);
}

TEST_CASE("transfers of one group that may meet are told, and contend with others'") {
  LinkClaims claims;
  const std::vector<Transfer> first{{1, 2, zero}}, next{{3, 4, zero}}, other{{1, 2, zero}};
  CHECK_FALSE(claims.claim(first, 0).meeting);
  const auto verdict = claims.claim(next, 0);
  REQUIRE(verdict.meeting);
  CHECK(*verdict.meeting == 0);
  CHECK_FALSE(verdict.contended);
  CHECK(claims.claim(other, 1).contended);
}

TEST_CASE("messages may meet each other, but not the transfers of a computed collective") {
  LinkClaims claims;
  const std::vector<Transfer> first{{1, 2, zero}}, next{{3, 4, zero}}, collective{{5, 6, zero}};
  CHECK_FALSE(claims.claim(first, LinkClaims::messages).contended);
  CHECK_FALSE(claims.claim(next, LinkClaims::messages).contended);
  CHECK(claims.claim(collective, 0).contended);
}

}  // namespace link_claims_test
