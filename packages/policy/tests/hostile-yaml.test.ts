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
type Ended = { exitCode: unknown; signal: unknown; answers: Answer[]; places: unknown[] };

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const program = `
  import { text } from 'node:stream/consumers';
  import { linesOf, parsePolicyBundle, withTest } from ${JSON.stringify(entry)};
  const source = await text(process.stdin);
  const refusal = (read) => {
    try { read(); return { code: 'NONE', message: '' }; } catch ({ code, message }) { return { code, message: message.slice(0, 200) }; }
  };
  const answers = [];
  const places = [];
  for (const _ of [1, 2]) {
    answers.push(refusal(() => parsePolicyBundle(source)), refusal(() => withTest(source, {})));
    places.push(linesOf(source)('/rules/0'));
  }
  console.log(JSON.stringify({ answers, places }));`;

// A separate process runs the build, so the build must be current.
beforeAll(() => {
  spawnSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', 'packages/policy'], { cwd: root });
});

/**
 * Reads a text twice with each reader, in a new process. V8 compiles a regular expression only when it is used again.
 */
async function read(source: string): Promise<Ended> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>; // as Node documents it
  child.stdin.end(source);
  const [printed, [exitCode, signal]] = await Promise.all([text(child.stdout), closed, text(child.stderr)]);
  return { exitCode, signal, answers: [], places: [], ...(exitCode === 0 ? (JSON.parse(printed) as object) : {}) };
}

describe('a process that reads a hostile text twice', () => {
  it.each(Object.entries(hostile))(
    'survives and reports the line: %s',
    async (_what, { source, code = 'YAML_REFUSED', message }) => {
      const { answers, ...ended } = await read(source);
      expect(ended).toMatchObject({ exitCode: 0, signal: null });
      expect(answers).toHaveLength(4);
      for (const answer of answers) expect(answer).toEqual({ code, message: expect.stringMatching(message) });
      expect(ended.places).toHaveLength(2);
    },
  );
});
