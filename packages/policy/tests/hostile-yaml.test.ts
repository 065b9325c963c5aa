import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';

/** The size limit of drafts in YAML, and the size of most texts below. A bundle may have 4 MiB. */
const draft = 65_536;
const bundle = 4 * 1024 * 1024;
const filled = (unit: string, size = draft) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
const lines = (count: number, line: (nth: number) => string) => Array.from({ length: count }, (_, nth) => line(nth));
const staircase = (size: number, step: string) =>
  lines(Math.sqrt(2 * size) - 4, (nth) => ' '.repeat(nth) + step).join('\n');

const tooDeep = /^line \d+: nests deeper than 64 levels$/;
const faulty = /^line \d+: /;

/** Texts at the size limit, by the cause of their depth or work, with the expected refusals. */
const hostile: Record<string, { source: string; code?: string; message: RegExp }> = {
  'explicit keys': { source: filled('? '), message: /^line 1: nests deeper than 64 levels$/ },
  'explicit keys, up to the size limit of bundles': { source: filled('? ', bundle), message: tooDeep },
  'list items': { source: filled('- '), message: tooDeep },
  'list items, up to the size limit of bundles': { source: filled('- ', bundle), message: tooDeep },
  'lists in brackets': { source: filled('['), message: tooDeep },
  'lists in brackets, up to the size limit of bundles': { source: filled('[', bundle), message: tooDeep },
  'closed lists': { source: `a: ${'['.repeat(32_000)}${']'.repeat(32_000)}`, message: tooDeep },
  'mappings in braces': { source: `a: ${filled('{', draft - 3)}`, message: tooDeep },
  'mappings in braces with keys': { source: `a: ${filled('{a: ', draft - 3)}`, message: tooDeep },
  'colons after names': { source: filled('a: '), message: tooDeep },
  'colons alone': { source: filled(': '), message: tooDeep },
  'alternating markers': { source: filled('? - : '), message: tooDeep },
  'indented mappings': { source: staircase(draft, 'a:'), message: /^line 65: nests deeper than 64 levels$/ },
  'indented lists': { source: staircase(draft, '-'), message: tooDeep },
  'indented explicit keys': { source: staircase(draft, '?'), message: tooDeep },
  'JSON in braces': { source: filled('{"a":'), code: 'MALFORMED_BUNDLE', message: /./ },
  'JSON in brackets': { source: `{"a":${filled('[', draft - 5)}`, code: 'MALFORMED_BUNDLE', message: /./ },
  'aliases of aliases': {
    source: `a0: &a0 [x]\n${lines(3_000, (nth) => `a${nth + 1}: &a${nth + 1} [*a${nth}, *a${nth}]`).join('\n')}`.slice(
      0,
      draft,
    ),
    message: /^line 1: anchors and aliases are refused$/,
  },
  aliases: {
    source: `name: n\nrules:\n${filled('- *a\n', draft - 20)}`,
    message: /^line 3: anchors and aliases are refused$/,
  },
  anchors: { source: `name: n\n${filled('&a ', draft - 8)}`, message: /^line 2: anchors and aliases are refused$/ },
  tags: { source: `name: n\n${filled('!!map ', draft - 8)}`, message: /^line 2: tags are refused$/ },
  'tags without a name': { source: filled('! '), message: /^line 1: tags are refused$/ },
  'commas without items': { source: `a: [${filled(',', draft - 4)}`, message: faulty },
  'markers in a list': { source: `a: [${filled('? ', draft - 4)}`, message: faulty },
  'unmatched closing brackets': { source: filled(']\n'), message: faulty },
  'block scalars': { source: filled('- |\n x\n'), code: 'MALFORMED_BUNDLE', message: /./ },
  'blank lines of a block scalar': {
    source: `a: |\n${filled('\n')}`.slice(0, draft),
    code: 'MALFORMED_BUNDLE',
    message: /./,
  },
  keys: { source: lines(7_000, (nth) => `k${nth}: 1`).join('\n'), code: 'MALFORMED_BUNDLE', message: /./ },
  documents: { source: filled('---\n'), message: /^line 2: a bundle must be a single document$/ },
};

type Answer = { code: string; message: string };
type Read = { answers: Answer[]; places: unknown[] };
type Ended = { exitCode: unknown; signal: unknown; reads: Read[] };

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const program = `
  import { text } from 'node:stream/consumers';
  import { linesOf, parsePolicyBundle, withTest } from ${JSON.stringify(entry)};
  const refusal = (read) => {
    try { read(); return { code: 'NONE', message: '' }; } catch ({ code, message }) { return { code, message: message.slice(0, 200) }; }
  };
  for (const source of JSON.parse(await text(process.stdin))) {
    const answers = [refusal(() => parsePolicyBundle(source)), refusal(() => withTest(source, {}))];
    console.log(JSON.stringify({ answers, places: [linesOf(source)('/rules/0')] }));
  }`;
const sources = Object.values(hostile).map(({ source }) => source);

/** Reads the texts one after another in a new process. After a crash, the texts from the fatal one on have no read. */
async function readAll(flag: string): Promise<Ended> {
  const args = [flag, '--input-type=module', '-e', program];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>; // as Node documents it
  child.stdin.end(JSON.stringify(sources));
  const [printed, [exitCode, signal]] = await Promise.all([text(child.stdout), closed]);
  const reads = printed.split('\n').filter(Boolean);
  return { exitCode, signal, reads: reads.map((line) => JSON.parse(line) as Read) }; // as the program prints it
}

// V8 first interprets a regular expression and later compiles it. The two ways have different limits of depth.
describe.each([
  ['interpreted', '--regexp-interpret-all'],
  ['compiled', '--no-regexp-tier-up'],
])('a process whose regular expressions are %s', (_way, flag) => {
  let ended: Ended;
  // The process runs the build, so the build must be current.
  beforeAll(async () => {
    spawnSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', 'packages/policy'], { cwd: root });
    ended = await readAll(flag);
  });

  it('survives all hostile texts', () => {
    expect(ended).toMatchObject({ exitCode: 0, signal: null, reads: { length: sources.length } });
  });

  it.each(Object.entries(hostile))('reports the line: %s', (what, { code = 'YAML_REFUSED', message }) => {
    const read = ended.reads[Object.keys(hostile).indexOf(what)];
    expect(read?.answers).toEqual(Array(2).fill({ code, message: expect.stringMatching(message) }));
    expect(read?.places).toHaveLength(1);
  });
});
