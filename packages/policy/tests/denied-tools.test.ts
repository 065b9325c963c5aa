import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, deniedTools, evaluateRules, parsePolicyBundle, Work } from '../src/index.ts';

const compiled = (rules: string) =>
  compilePolicy(
    parsePolicyBundle(`format: countersign/policy.v1\nname: listed\nversion: '1'\nrules:\n${rules}`),
    nodeProvider,
  );
const deny = (match: string, more = '') => `  - { id: denies, effect: deny, match: ${match}${more} }\n`;
const allow = (match: string, more = '') => `  - { id: allows, effect: allow, match: ${match}${more} }\n`;
const every = allow('{ action: [tool.call] }');
const when = `, when: 'args.amount < 5'`;

const cases: [string, string, boolean][] = [
  ['a rule denies the tool', every + deny('{ action: [tool.call], tool: [notes.pay] }'), true],
  ['a rule denies its server', every + deny('{ action: [tool.call], tool: ["notes.*"] }'), true],
  ['a rule denies every action', every + deny('{ action: ["*"] }'), true],
  ['a rule denies the tool to this principal', every + deny('{ tool: [notes.pay], principal: [ann] }'), true],
  ['a rule denies the tool to another principal', every + deny('{ tool: [notes.pay], principal: [bob] }'), false],
  ['a rule denies the tool under a condition', every + deny('{ tool: [notes.pay] }', when), false],
  ['a rule denies the tool for one resource', every + deny('{ tool: [notes.pay], resource: [vault] }'), false],
  ['a rule denies the tool at one effect', every + deny('{ tool: [notes.pay], effect_level: [E4] }'), false],
  ['a rule denies another tool', every + deny('{ tool: [notes.delete] }'), false],
  ['a rule denies another action', every + deny('{ action: [model.call] }'), false],
  ['no rule allows the tool', allow('{ action: [tool.call], tool: [notes.read] }'), true],
  ['no rule allows its action', allow('{ action: [model.call] }'), true],
  ['a rule allows it only to another principal', allow('{ action: [tool.call], principal: [bob] }'), true],
  ['a rule allows it under a condition', allow('{ tool: [notes.pay] }', when), false],
  ['a rule allows it for one resource', allow('{ tool: [notes.pay], resource: [vault] }'), false],
  ['a rule allows it at one effect', allow('{ action: [tool.call], effect_level: [E0] }'), false],
  [
    'a rule requires an approval',
    `  - { id: asks, effect: escalate, match: { action: [tool.call], tool: [notes.pay] } }\n`,
    false,
  ],
];

describe('a tool that the rules deny with any arguments', () => {
  it.each(cases)('is found only if no call can pass: %s', (_what, rules, isDenied) => {
    const policy = compiled(rules);
    const denied = deniedTools(policy, { principal: 'ann', tools: ['notes.pay'] });
    expect([...denied]).toEqual(isDenied ? ['notes.pay'] : []);
    if (!isDenied) return;
    for (const effect_level of ['E0', 'E2', 'E4'] as const)
      for (const resource of [null, 'vault', 'other'])
        for (const amount of [1, 9]) {
          const named = { action: 'tool.call', tool: 'notes.pay', principal: 'ann', tenant: 'acme', session: 's' };
          const intent = {
            ...named,
            resource,
            effect_level,
            args: { amount },
            context: {},
            intent_hash: '',
            args_hash: '',
          };
          const environment = { now: '2026-01-01T00:00:00.000Z', relations: {} };
          expect(evaluateRules(policy, intent as never, environment).kind).toBe('deny'); // plain names
        }
  });

  it.each([
    ['a rule denies the tool for this resource', every + deny('{ tool: [notes.pay], resource: ["vault*"] }'), true],
    ['a rule denies the tool for another resource', every + deny('{ tool: [notes.pay], resource: [other] }'), false],
    ['a rule denies this resource at one effect', every + deny('{ resource: [vault], effect_level: [E4] }'), false],
    ['a rule allows it only for another resource', allow('{ tool: [notes.pay], resource: [other] }'), true],
    ['a rule allows it for this resource', allow('{ tool: [notes.pay], resource: [vault] }'), false],
  ])('is found for one resource: %s', (_what, rules, isDenied) => {
    const denied = deniedTools(compiled(rules), { principal: 'ann', tools: ['notes.pay'], resource: 'vault' });
    expect([...denied]).toEqual(isDenied ? ['notes.pay'] : []);
  });

  it('is omitted if the work is used up before it', () => {
    const policy = compiled(every + deny('{ action: [tool.call], tool: [notes.pay] }'));
    const tools = ['notes.pay', ...Array.from({ length: 1_000 }, (_, nth) => `notes.t${nth}`)];
    expect(deniedTools(policy, { principal: 'ann', tools }, new Work(0)).size).toBe(0);
    const work = new Work(50);
    expect([...deniedTools(policy, { principal: 'ann', tools }, work)]).toEqual(['notes.pay']);
    expect(work.isSpent).toBe(true);
  });
});
