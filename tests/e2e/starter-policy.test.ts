import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EffectLevel } from '@countersign/contracts';
import { GovernedChange } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, evaluateRules, parsePolicyBundle, type CompiledPolicy } from '@countersign/policy';
import { Client, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { filesystemServer } from '@countersign/local';

const starter = fileURLToPath(new URL('../../infra/local/policy/starter.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'countersign-starter-'));
const client = new Client({ name: 'starter-policy', version: '1' });
let tools: readonly Tool[];
const bundle = parsePolicyBundle(readFileSync(starter, 'utf8'));
let policy: CompiledPolicy;

beforeAll(async () => {
  const { command, args } = filesystemServer(folder);
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  tools = (await client.listTools()).tools;
  policy = compilePolicy(bundle, nodeProvider);
});
afterAll(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The members of a tool's arguments that contain file paths, by its schema. */
function pathMembers({ inputSchema }: Tool): { name: string; isList: boolean }[] {
  const members = Object.entries(inputSchema.properties ?? {}) as [string, { type?: string }][];
  return members
    .filter(([name]) => /path|source|destination|file|dir/i.test(name))
    .map(([name, { type }]) => ({ name, isList: type === 'array' }));
}

function outcomeOf(under: CompiledPolicy, call: object) {
  const intent = {
    ...{ tenant: 'acme', principal: 'agent', session: 's', tool: null, resource: null, effect_level: 'E1' },
    ...{ args: {}, context: {}, args_hash: '', intent_hash: '', ...call },
  };
  return evaluateRules(under, intent as never, { now: new Date(0).toISOString(), relations: {} });
}

function rulesAgainst(tool: Tool, args: Record<string, unknown>): string[] {
  const outcome = outcomeOf(policy, { action: 'tool.call', tool: `files.${tool.name}`, args });
  return outcome.kind === 'deny' ? outcome.rules : [];
}

it('the starter policy checks every path argument of every tool of the shipped server', () => {
  const judged = tools.flatMap((tool) => pathMembers(tool).map((member) => ({ tool, ...member })));
  expect(judged.length).toBeGreaterThan(12);
  for (const { tool, name, isList } of judged)
    for (const [path, rule] of [
      ['notes/../../etc/passwd', 'deny-leaving-the-folder'],
      ['app/.env', 'deny-secrets'],
    ] as const) {
      const args = { [name]: isList ? ['notes/today.md', path] : path };
      expect([tool.name, name, rulesAgainst(tool, args)]).toEqual([tool.name, name, expect.arrayContaining([rule])]);
    }
});

it('the starter policy protects records from every tool that writes files', () => {
  for (const name of ['write_file', 'edit_file', 'move_file']) {
    const tool = tools.find((listed) => listed.name === name);
    if (tool === undefined) throw new Error(`the shipped server has no ${name}`);
    for (const { name: member } of pathMembers(tool))
      for (const path of ['records/2026.csv', 'records', '/data/records', '/data/records/'])
        expect([name, member, path, rulesAgainst(tool, { [member]: path })]).toEqual([
          ...[name, member, path, expect.arrayContaining(['deny-changing-records'])],
        ]);
  }
});

it('the starter policy does not protect files that only have a similar name', () => {
  const move = tools.find(({ name }) => name === 'move_file');
  if (move === undefined) throw new Error('the shipped server has no move_file');
  for (const source of ['records-2025', 'my-records', 'records.csv', 'old-records/a.csv'])
    expect([source, rulesAgainst(move, { source, destination: 'b' })]).toEqual([source, []]);
});

it('the starter policy lets no owner make a governed change alone if its rule for changes of owners escalates, at any stated effect level', () => {
  const rules = bundle.rules.map((rule) =>
    rule.id === 'allow-changes-of-owners' ? { ...rule, effect: 'escalate' as const } : rule,
  );
  expect(rules).not.toEqual(bundle.rules);
  const asking = compilePolicy({ ...bundle, rules, tests: [] }, nodeProvider);
  const changes = GovernedChange.options.flatMap((action) =>
    EffectLevel.options.map((effect_level) => ({ action, effect_level, principal: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' })),
  );
  expect(changes.filter((call) => outcomeOf(asking, call).kind === 'allow')).toEqual([]);
  expect(changes.filter((call) => outcomeOf(policy, call).kind === 'allow').length).toBe(
    2 * GovernedChange.options.length,
  );
});

const listOf = <Item>(length: number, item: (index: number) => Item) =>
  Array.from({ length }, (_, index) => item(index));
const long = (length: number) => 'Dear customer, '.repeat(length / 15);

it.each<[string, object]>([
  [
    '150 rows of a table',
    { rows: listOf(150, (row) => ({ id: row, name: `name ${row}`, city: 'Lund', age: 4, open: true })) },
  ],
  ['500 addresses', { to: listOf(500, (nth) => `person-${nth}@example.org`) }],
  ['a long text with 60 tags', { text: long(100_000), tags: listOf(60, (nth) => `tag-${nth}`) }],
  ['40 edits', { edits: listOf(40, () => ({ oldText: long(1_500), newText: long(1_500) })) }],
  ['an embedding', { vector: listOf(1_536, (nth) => nth / 1_536), text: long(5_000) }],
  ['a file of 420 kB', { path: 'notes/today.md', content: long(420_000) }],
])('the starter policy decides a call with %s by its rules', (_, args) => {
  const outcome = outcomeOf(policy, { action: 'tool.call', tool: 'crm.read', args });
  expect(outcome).toMatchObject({ kind: 'allow', rules: ['allow-reads'] });
});
