// SPDX-License-Identifier: Apache-2.0
// Laws of pricing on generated tables and contracts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "samples.h"

namespace plumbline {
namespace {

/// A table of 1 to 12 kernels whose names may hold the words that the contracts look for.
rc::Gen<KernelTable> any_table() {
  const auto name = rc::gen::map(
      rc::gen::tuple(rc::gen::element<std::string>("lse_fwd", "bwd", "copy_w", "gemm<lse>"),
                     rc::gen::inRange(0, 5)),
      [](const std::tuple<std::string, int>& t) { return std::get<0>(t) + std::to_string(std::get<1>(t)); });
  const auto row =
      rc::gen::pair(name, rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int ns) { return ns * 1.0; }));
  return rc::gen::map(
      rc::gen::nonEmpty(
          rc::gen::resize(12, rc::gen::container<std::vector<std::pair<std::string, double>>>(row))),
      [](const std::vector<std::pair<std::string, double>>& rows) { return samples::table_of(rows); });
}

const std::string kStudentPays =
    "[[asymmetry]]\nref_input = \"lse\"\nclass = \"price\"\nstudent_kernel_regex = 'lse_fwd'\n";
const std::string kRefPays =
    "[[asymmetry]]\nstudent_input = \"weight_layout\"\nclass = \"price\"\nref_kernel_regex = '^copy'\n";

double ms_of(const KernelTable& table) { return *table.time_ns_per_call / 1e6 * 1.05; }

void expect_same(double a, double b) {
  RC_ASSERT(std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)));
}

/// Same verdict, same fractions, same credited ratio.
void expect_same(const std::optional<Credit>& a, const std::optional<Credit>& b, double student_ms,
                 double ref_ms) {
  RC_ASSERT(a.has_value() && b.has_value());
  RC_ASSERT(a->usable() == b->usable());
  expect_same(a->student.fraction, b->student.fraction);
  expect_same(a->reference.fraction, b->reference.fraction);
  const auto x = credited_times(*a, student_ms, ref_ms);
  const auto y = credited_times(*b, student_ms, ref_ms);
  RC_ASSERT(x.has_value() == y.has_value());
  if (x) expect_same(x->credited_ratio, y->credited_ratio);
}

RC_GTEST_PROP(Pricing, RowOrderChangesNothing, ()) {
  const KernelTable student = *any_table();
  const KernelTable reference = *any_table();
  const auto contract = samples::contract_of(kStudentPays + kRefPays);
  KernelTable turned = student;
  std::reverse(turned.kernels.begin(), turned.kernels.end());
  const SideInput other = side_input(&reference, ms_of(reference));
  expect_same(price_credit(contract, side_input(&student, ms_of(student)), other),
              price_credit(contract, side_input(&turned, ms_of(student)), other), ms_of(student),
              ms_of(reference));
}

RC_GTEST_PROP(Pricing, UnitsOfTheSourceChangeNothing, ()) {
  // A profiler that prints microseconds: the importer multiplies, and 123.456 µs need not be 123456 ns
  // exactly.
  const KernelTable nanoseconds = *any_table();
  const auto contract = samples::contract_of(kStudentPays);
  KernelTable microseconds = nanoseconds;
  for (KernelRow& row : microseconds.kernels) row.time_ns = (row.time_ns / 1e3) * 1e3;
  microseconds.time_ns_per_call = *nanoseconds.time_ns_per_call / 1e3 * 1e3;
  const double ms = ms_of(nanoseconds);
  expect_same(price_credit(contract, side_input(&nanoseconds, ms), {}),
              price_credit(contract, side_input(&microseconds, ms), {}), ms, 1.0);
}

RC_GTEST_PROP(Pricing, MirroredSidesMirrorTheRatios, ()) {
  const KernelTable a = *any_table();
  const KernelTable b = *any_table();
  // The same work priced on the student in one contract and on the reference in its mirror image.
  const auto contract = samples::contract_of(kStudentPays);
  const std::string mirrored =
      "[reference]\nwindow = \"call\"\ninputs = [\"x\", \"w\", \"weight_layout\"]\noutputs = [\"y\"]\n"
      "[student]\nwindow = \"call\"\ninputs = [\"x\", \"w\", \"lse\"]\noutputs = [\"y\"]\n"
      "[[asymmetry]]\nstudent_input = \"lse\"\nclass = \"price\"\nref_kernel_regex = 'lse_fwd'\n";
  const auto parsed = parse_contract(mirrored, "window.toml");
  RC_ASSERT(parsed.ok());
  const SideInput of_a = side_input(&a, ms_of(a));
  const SideInput of_b = side_input(&b, ms_of(b));
  const auto forth = price_credit(contract, of_a, of_b);
  const auto back = price_credit(*parsed.value, of_b, of_a);
  RC_ASSERT(forth.has_value() && back.has_value());
  RC_ASSERT(forth->usable() == back->usable());
  const auto x = credited_times(*forth, ms_of(a), ms_of(b));
  const auto y = credited_times(*back, ms_of(b), ms_of(a));
  RC_ASSERT(x.has_value() == y.has_value());
  if (!x) return;
  expect_same(x->raw_ratio * y->raw_ratio, 1.0);
  expect_same(x->credited_ratio * y->credited_ratio, 1.0);
  const auto i = credit_interval(*forth, of_a, of_b, nullptr);
  const auto j = credit_interval(*back, of_b, of_a, nullptr);
  RC_ASSERT(i.has_value() && j.has_value());
  expect_same(i->interval.low * j->interval.high, 1.0);
}

RC_GTEST_PROP(Pricing, ACreditHelpsThePayerAndTheIntervalHoldsThePoint, ()) {
  const KernelTable student = *any_table();
  const KernelTable reference = *any_table();
  const auto contract = samples::contract_of(kStudentPays);
  const SideInput s = side_input(&student, ms_of(student));
  const SideInput r = side_input(&reference, ms_of(reference));
  const auto credit = price_credit(contract, s, r);
  RC_ASSERT(credit.has_value());
  RC_ASSERT(credit->student.fraction >= 0 && credit->student.fraction <= 1 + 1e-12);
  const auto times = credited_times(*credit, s.reading_ms, r.reading_ms);
  if (!times) return;
  RC_ASSERT(times->credited_ratio >= times->raw_ratio);
  const auto interval = credit_interval(*credit, s, r, nullptr);
  RC_ASSERT(interval.has_value());
  RC_ASSERT(interval->interval.low <= times->credited_ratio &&
            times->credited_ratio <= interval->interval.high);
}

}  // namespace
}  // namespace plumbline
