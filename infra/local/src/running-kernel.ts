import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { readIfPresent } from './data-dir.ts';
import { holderOf } from './hold-data-dir.ts';
import { LocalProblem } from './local-problem.ts';

/**
 * The kernel of the `make up` that runs on the data directory, from its local.env. Throws LocalProblem when none runs.
 */
export function runningKernel(dataDir: string): { url: string; apiKey: string } {
  // local.env stays when the system ends, so the holder is checked first.
  const written = holderOf(dataDir) === null ? null : readIfPresent(join(dataDir, 'local.env'));
  const { KERNEL_URL: url, GOV_ADMIN_API_KEY: apiKey } = parseEnv(written ?? '');
  if (url === undefined || apiKey === undefined)
    throw new LocalProblem(
      `Countersign does not run on ${dataDir}.`,
      'Start it with make up, or name a kernel: make conformance url=https://… key=FILE',
    );
  return { url, apiKey };
}
