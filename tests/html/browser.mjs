// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium for the tests of the pages.
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const kChromium = '/usr/bin/chromium';

/** Why no browser can be started here, or none. */
export const missing = () => (existsSync(kChromium) ? '' : `no ${kChromium}: tools/install.sh browser installs it`);

export const launch = () =>
  chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), 'plumbline-chromium-')), {
    executablePath: kChromium,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync'],
  });

/** A page that keeps what it says and asks for. */
export async function open(context, url) {
  const page = await context.newPage();
  const said = [];
  const asked = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('dialog', (dialog) => { said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== url) asked.push(request.url()); });
  await page.goto(url);
  return { page, said, asked };
}
