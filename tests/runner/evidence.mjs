import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * The evidence of a failure for people: pictures of pages, logs of services. Test helpers register how it is taken,
 * since they hold the pages and the processes: `globalThis.countersignEvidence` is a set of functions that write files
 * whose names begin with the given path.
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
