import { expect, it } from '@jest/globals';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { changeOf } from '../src/policy/difference.ts';

const rule = (id: string, effect: 'allow' | 'deny', when?: string) => ({ id, effect, match: {}, when });
const bundle = (rules: PolicyBundle['rules'], more: Partial<PolicyBundle> = {}): PolicyBundle => ({
  ...{ format: 'countersign/policy.v1', name: 'one', version: '1', tests: [], ...more, rules },
});

it('names each added, removed and changed rule, and each other changed member of the bundle', () => {
  const [kept, gone, before, after, added] = [
    rule('kept', 'allow'),
    rule('gone', 'deny'),
    rule('moved', 'deny', 'args.amount > 1'),
    rule('moved', 'deny', 'args.amount > 2'),
    rule('added', 'allow'),
  ] as const;
  const tools = { tools: { 'crm.read': { effect_level: 'E1' as const } } };
  const earlier = bundle([kept, gone, before], { egress: ['a.example'], ...tools });
  const later = bundle([added, after, { ...kept, when: undefined }], { version: '2', ...tools });
  expect(changeOf(earlier, later)).toEqual({
    rules: [
      { rule_id: 'added', before: null, after: added },
      { rule_id: 'gone', before: gone, after: null },
      { rule_id: 'moved', before, after },
    ],
    other_members: ['egress', 'version'],
  });
  expect(changeOf(earlier, earlier)).toEqual({ rules: [], other_members: [] });
});
