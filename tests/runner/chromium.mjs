import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { installFirst, mayInstall } from './apt-get.mjs';

const requireFromKernel = createRequire(new URL('../../services/governance-kernel/package.json', import.meta.url));

// Pages take a quarter less time in a browser without a user interface.
const headlessShell = 'chromium-headless-shell';

const systemPrograms = [
  `/usr/bin/${headlessShell}`,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const howToGetOne = `Chromium is missing and could not be installed. Install Chromium or Chrome, or set CHROMIUM_PATH to the program.`;

/**
 * The browser for tests of pages: the one in CHROMIUM_PATH, else an installed one, else one that is downloaded or
 * installed.
 */
export function findChromium(env, log) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH;
  const found = systemPrograms.find((path) => existsSync(path)) ?? downloaded();
  if (found !== undefined) return found;
  log("Downloading Playwright's headless Chromium, about 110 MB, 200 MB unpacked, into its own cache folder");
  const cli = requireFromKernel.resolve('playwright-core/package.json').replace(/package\.json$/, 'cli.js');
  spawnSync(process.execPath, [cli, 'install', headlessShell], { stdio: ['ignore', 'ignore', 'inherit'] });
  return downloaded() ?? installed(log);
}

function downloaded() {
  const path = requireFromKernel('playwright-core').chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

function installed(log) {
  if (!mayInstall()) throw new Error(howToGetOne);
  log('Installing Chromium with apt-get, about 400 MB');
  const name = installFirst([headlessShell, 'chromium']);
  if (name === undefined) throw new Error(howToGetOne);
  return `/usr/bin/${name}`;
}
