// SPDX-License-Identifier: Apache-2.0
// Student's t distribution, and variances of many quantities held against each other.
#pragma once

#include <span>
#include <vector>

namespace plumbline {

/// P(|T| > |t|) with `freedom` degrees of freedom, a positive number that need not be whole; infinite is the
/// normal distribution.
double student_t_two_sided(double t, double freedom);

/// The t that is exceeded with probability `tail` (above 0, at most one half).
double student_t_upper(double tail, double freedom);

/// A variance and the degrees of freedom that it rests on.
struct Variance {
  double value = 0;
  double freedom = 0;  ///< 0: nothing is known of it, `value` is not read
};

/// Each variance drawn towards what all have in common, as far as they have it: the moderated variances of
/// Smyth (2004). One with no freedom of its own gets the common one; none gets more freedom than all have
/// together. Empty where no variance has any freedom. `floor` is the least variance.
std::vector<Variance> moderated(std::span<const Variance> variances, double floor);

/// Which of `p` are rejected when at most a share `q` of the rejected may be false (Benjamini and Hochberg
/// 1995).
std::vector<bool> reject_at_rate(std::span<const double> p, double q);

}  // namespace plumbline
