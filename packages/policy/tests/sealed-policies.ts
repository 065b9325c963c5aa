import fc from 'fast-check';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '../src/index.ts';
import type { CompiledPolicy } from '../src/index.ts';
import { toolNames } from './sealed-world.ts';

const tool = fc.constantFrom(...toolNames);
const when = fc.constantFrom(
  'has(args.amount) && args.amount > 100.0',
  'args.amount > 100.0',
  'has(context.channel) && context.channel == "web"',
  'size(args) > 1',
  'has(args.to.country)',
  'principal == "agent-1"',
  'now > timestamp("2020-01-01T00:00:00Z")',
  'relations.reader',
);
const match = fc.record(
  {
    action: fc.constantFrom(['tool.call'], ['data.egress'], ['*']),
    tool: fc.constantFrom(['files.*'], ['pay.send'], ['*']),
    effect_level: fc.constantFrom(['E0', 'E1'], ['E2', 'E3', 'E4']),
  },
  { requiredKeys: [] },
);
const rule = fc
  .record(
    { effect: fc.constantFrom('allow', 'allow', 'deny', 'escalate'), match, when, quorum: fc.constantFrom(1, 2) },
    { requiredKeys: ['effect', 'match'] },
  )
  .map(({ quorum, ...body }) =>
    body.effect === 'escalate' && quorum !== undefined ? { ...body, approval: { quorum } } : body,
  );
const declared = fc.dictionary(
  tool,
  fc.record(
    {
      effect_level: fc.constantFrom('E0', 'E1', 'E3'),
      identity: fc.constantFrom(['proven'], ['enrolled']),
      sandbox: fc.constant(true),
      dispatched_by: fc.constant('kernel'),
    },
    { requiredKeys: ['effect_level'] },
  ),
  { maxKeys: 2 },
);
const reader = { object: 'document:{args.id}', relation: 'viewer', subject: 'agent:{principal}' };
const required = fc.option(fc.constantFrom({ tool: ['files.*'] }, { action: ['data.egress'] }), { nil: undefined });
/** Most of these policies allow much, so that most calls reach the later gates. */
export const policies = fc
  .record(
    {
      rules: fc.array(rule, { minLength: 1, maxLength: 6 }),
      tools: declared,
      egress: fc.constantFrom([], ['*.example.org'], ['example.net']),
      identity: fc.constantFrom(['proven'], ['enrolled']),
      required,
    },
    { requiredKeys: ['rules'] },
  )
  .map(({ rules, required: by, ...rest }) =>
    policyWith({
      relations: { reader: by === undefined ? reader : { ...reader, required: by } },
      rules: [{ effect: 'allow', match: {} }, ...rules].map((body, index) => ({ id: `r${index}`, ...body })),
      ...rest,
    }),
  );

/** A policy with these members. Without rules, it allows everything. */
export function policyWith(body: object): CompiledPolicy {
  const rules = [{ id: 'r0', effect: 'allow' }];
  const bundle = { format: 'countersign/policy.v1', name: 'n', version: '1', rules, ...body };
  return compilePolicy(parsePolicyBundle(bundle), nodeProvider);
}
