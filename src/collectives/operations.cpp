#include "collectives/operations.h"

#include <array>

namespace simgrad::collectives {

namespace {

constexpr std::string_view patarasuk_yuan =
    "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009";
constexpr std::string_view thakur =
    "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005";

constexpr std::array listed{
    base::About{.kind = "reduce_scatter",
                .summary = "chunk r of the sum on member r, around a ring",
                .cost = "(P-1) alpha + (P-1)/P M beta + (P-1)/P M gamma",
                .source = patarasuk_yuan},
    base::About{.kind = "all_gather",
                .summary = "all members' vectors on every member, around a ring; of any lengths",
                .cost = "(P-1) alpha + (P-1)/P M beta, M together",
                .source = patarasuk_yuan},
    base::About{.kind = "reduce",
                .summary = "the sum on one member, along a binomial tree",
                .cost = "ceil(lg P) (alpha + M beta + M gamma)",
                .source = thakur},
    base::About{.kind = "flat_reduce",
                .summary = "everybody sends to one member at once, sharing its link",
                .cost = "alpha + (P-1) M beta + (P-1) M gamma",
                .source = ""},
    base::About{.kind = "gather",
                .summary = "all members' chunks on one member, along a binomial tree",
                .cost = "lg P alpha + (P-1)/P M beta",
                .source = thakur},
    base::About{.kind = "scatter",
                .summary = "one member's chunks, one to each, along a binomial tree",
                .cost = "lg P alpha + (P-1)/P M beta",
                .source = thakur},
    base::About{.kind = "all_to_all",
                .summary = "a chunk of every member's for every other, in pairs",
                .cost = "(P-1) (alpha + M/P beta)",
                .source = thakur},
    base::About{.kind = "flat_all_to_all",
                .summary = "a chunk of every member's for every other, all messages at once; shorter ones are padded",
                .cost = "alpha + (P-1)/P M beta",
                .source = thakur},
    base::About{.kind = "flat_all_gather",
                .summary = "all members' chunks on every member, all messages at once; shorter ones are padded",
                .cost = "alpha + (P-1)/P M beta, M together",
                .source = thakur},
};

}  // namespace

std::span<const base::About> operations() { return listed; }

}  // namespace simgrad::collectives
