import type { BoundaryRecord, PolicyTest } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../compile-policy.ts';
import { callOfTest, verdictInTest } from '../policy-tests.ts';
import { restoredIntent, restoreIntent } from '../replay.ts';
import { matchingRules } from '../rule-index.ts';
import { boundedBefore } from '../work.ts';
import { decideAgain, type Under } from './decide-again.ts';
import { effectsAgain } from './effects-again.ts';

type Kept = {
  name: string;
  expect: PolicyTest['expect'];
};

type TestOfRecord =
  | { kind: 'test'; test: PolicyTest }
  | { kind: 'UNREPLAYABLE'; missing: string[] }
  /** A gate other than the rules gate decided. Tests of a bundle cover only its rules. */
  | { kind: 'not_by_rules'; reason_code: string };

/**
 * The call of a record as a test of the draft. Run against the draft, it returns the verdict of `decideAgain`, or
 * ESCALATE for a call that an approval permitted. When no such test is possible, the reason is returned. The record
 * must be verified before.
 */
export function testOfRecord(record: BoundaryRecord, under: Under, { name, expect }: Kept): TestOfRecord {
  const again = decideAgain(record, under);
  if (again.kind === 'UNREPLAYABLE') return again;
  const effect_level = effectsAgain(record, under).at(-1) ?? record.intent.effect_level;
  const test: PolicyTest = { name, intent: { ...callOf(record, under.draft), effect_level }, expect };
  if (readsTheTime(under.draft, test)) return { kind: 'UNREPLAYABLE', missing: ['now'] };
  const verdict = verdictInTest(under.draft, test);
  // For a call that an approval permitted, the rules alone return ESCALATE.
  const wasApproved = again.verdict === 'ALLOW' && record.approval_id !== null && verdict === 'ESCALATE';
  if (verdict !== again.verdict && !wasApproved) return { kind: 'not_by_rules', reason_code: again.reason_code };
  return { kind: 'test', test };
}

function callOf(record: BoundaryRecord, draft: CompiledPolicy): Omit<PolicyTest['intent'], 'effect_level'> {
  const { tool, resource, action, principal, tenant, session, args, context } = restoredIntent(record);
  const restored = restoreIntent(record);
  // Stryker disable next-line ArrayDeclaration: The mutant's relation is not declared, and is omitted below.
  const relations = restored.kind === 'restored' ? Object.entries(restored.environment.relations) : [];
  return {
    ...{ action, principal, tenant, session, args, context },
    ...(tool === null ? {} : { tool }),
    ...(resource === null ? {} : { resource }),
    relations: Object.fromEntries(relations.filter(([name]) => draft.relations.has(name))),
  };
}

/** A test has its own fixed time, so a rule that reads the time may have a different result in it. */
function readsTheTime(draft: CompiledPolicy, { intent }: PolicyTest): boolean {
  return matchingRules(draft.index, callOfTest(intent), boundedBefore()).some(
    ({ when }) => when?.reads.includes('now') === true,
  );
}
