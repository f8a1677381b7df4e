// SPDX-License-Identifier: Apache-2.0
// kind bench_grammar is answered as bench_prep is: see bench_prep.cpp. This file stands for its name.
