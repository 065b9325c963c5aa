import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Stores the evidence of a failure: pictures of pages, logs of services. Test helpers own the pages and the processes.
 * They register functions in the set `globalThis.countersignEvidence`, which write files under the passed name prefix.
 */
export async function collectEvidence(testPath, title) {
  const folder = process.env.COUNTERSIGN_TEST_EVIDENCE;
  const takers = globalThis.countersignEvidence;
  if (folder === undefined || takers === undefined) return;
  mkdirSync(folder, { recursive: true });
  const name = `${basename(testPath).replace(/\.test\.tsx?$/, '')}-${title}`.replaceAll(/[^\w-]+/g, '-').slice(0, 100);
  const taken = await Promise.allSettled([...takers].map((take) => take(join(folder, name))));
  const problems = taken.flatMap(({ reason }) => (reason === undefined ? [] : [String(reason)]));
  if (problems.length > 0) writeFileSync(join(folder, `${name}.problems`), problems.join('\n'));
}
