// SPDX-License-Identifier: Apache-2.0
// Every page that the tool writes, made from recorded data, and the hard ones: hostile names, a thousand kernels, no table, ten thousand layers.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const kHostile = '</script><img src=x onerror=alert(1)>"\'&<b>\u202e';

const kCard = 'operators/attention_backward';
const kRun = join(kCard, 'runs/h200_price');

/** As `nsys stats --report cuda_gpu_kern_sum --format csv` writes it. */
function nsysTable(kernels) {
  const all = kernels.reduce((sum, [, ns]) => sum + ns, 0);
  const rows = kernels.map(([name, ns]) => `${(100 * ns / all).toFixed(3)},${ns},1,${ns}.0,${ns}.0,${ns},${ns},0.0,"${name.replaceAll('"', '""')}"`);
  return ['Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name', ...rows, ''].join('\n');
}

/** A space of 20,000 shapes, timed by the proxy. */
const smallSpace = (top, constraint, front = '') => `schema_version = 1
name = "small"
title = "One layer of <b>any</b> width"

[dimensions]
hidden_dim = { from = 1024, to = 4160, step = 64 }
head_dim = [64, 128]
group = [1, 4]
num_kv_heads = [4, 8]
ffn_dim = { from = 4096, to = 7232, step = 64 }

[derived]
num_heads = "group * num_kv_heads"

[constraints]
ffn_ratio = "1 <= ffn_dim / hidden_dim <= 6"
${constraint}

[[point]]
name = "prefill"
phase = "prefill"
seq_len = 2048
weight = 1

[[hardware]]
name = "h100"
model = "proxy"

[objective]
minimise = "weighted_ms / parameters"
top = ${top}
${front}
`;

/** Writes the pages into `folder`; returns their names with the arguments that made them. */
export function makePages(plumbline, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (statuses, ...args) => {
    const done = spawnSync(plumbline, args, { encoding: 'utf8' });
    if (!statuses.includes(done.status)) throw new Error(`plumbline ${args.join(' ')}: exit ${done.status}\n${done.stderr}`);
    return done.stdout;
  };
  const made = {};
  const make = (name, statuses, ...args) => {
    run(statuses, ...args, '--html', join(folder, `${name}.html`));
    made[name] = args;
  };
  const write = (name, text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  make('confirm', [0, 1], 'confirm', kCard, '--run', 'h200_price');
  make('confirm_no_tables', [0, 1], 'confirm', kCard, '--eval', join(kRun, 'eval.json'));
  const hostile = write('hostile.csv', nsysTable([[kHostile, 500000], ['elementwise_kernel', 131000]]));
  make('confirm_hostile', [0, 1], 'confirm', kCard, '--eval', join(kRun, 'eval.json'), '--student-table', hostile, '--calls', '1');
  const thousand = write('thousand.csv', nsysTable(Array.from({ length: 1000 }, (_, i) => [`kernel_${i}_of_a_long_name_that_goes_on`, 600 + i % 50])));
  make('confirm_thousand', [0, 1], 'confirm', kCard, '--eval', join(kRun, 'eval.json'), '--student-table', thousand, '--calls', '1');

  make('rank', [0], 'arch', 'rank');
  const layers = ['name,hidden_dim,num_heads,num_kv_heads,head_dim,ffn_dim'];
  for (let i = 0; i < 10000; ++i) layers.push(`layer_${i},${1024 + 64 * (i % 97)},16,${[1, 2, 4, 8, 16][i % 5]},128,${4096 + 64 * (i % 211)}`);
  make('rank_10000', [0], 'arch', 'rank', '--hardware', 'h100', '--model', 'proxy', '--configs', write('layers.csv', layers.join('\n') + '\n'));
  make('search', [0], 'arch', 'search', write('small.toml', smallSpace(20, '', 'front = ["weighted_ms", { maximise = "parameters" }]')), '--threads', '1');
  make('search_none', [1], 'arch', 'search', write('none.toml', smallSpace(5, 'small = "parameters <= 1000"')), '--threads', '1');
  make('search_uncertain', [0], 'arch', 'search', 'tests/golden/search_uncertain/scatter.toml', '--threads', '1');
  // every allowed shape is listed: ten thousand candidates
  make('search_10000', [0], 'arch', 'search', write('large.toml', smallSpace(10000, '', 'front = ["weighted_ms", { maximise = "parameters" }]')), '--threads', '2');
  make('sweep', [0], 'arch', 'sweep', '--dim', 'hidden_dim=3840:4352:32');
  make('report', [0], 'arch', 'report', '--hardware', 'h200', '--hardware', 'h100');
  make('preset', [0], 'arch', 'report', '--hardware', 'h100', '--preset', 'noeris-quality');
  make('accuracy', [0, 1], 'hardware', 'validate', 'h200', 'tests/validation/h200/gemm.csv');
  const ledger = join(folder, 'ledger.db');
  for (const name of ['h200', 'h200_price', 'h200_price']) run([0, 1], 'confirm', kCard, '--run', name, '--bank', '--ledger', ledger);
  make('trend', [0], 'ledger', 'trend', kCard, '--ledger', ledger);
  return made;
}

export const read = (folder, name) => readFileSync(join(folder, `${name}.html`), 'utf8');
