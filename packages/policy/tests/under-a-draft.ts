import type { BoundaryRecord, GateOutcome } from '@countersign/contracts/governance-kernel';
import { decideAgain, type CompiledPolicy } from '../src/index.ts';
import { policyWith } from './sealed-policies.ts';
import { decideIn, type World } from './sealed-world.ts';

export const verdictText = ({ verdict, reason_code }: { verdict: string; reason_code: string }) =>
  `${verdict} ${reason_code}`;

export const tools = (effect_level: string, rest: object = {}) => ({
  tools: { 'files.read': { effect_level, ...rest } },
});
export const allowing = (rest: object = {}) => policyWith(rest);
export const asking = (quorum: number, name = 'n') =>
  policyWith({ name, rules: [{ id: 'r0', effect: 'escalate', approval: { quorum } }] });

export type Under = {
  recorded?: CompiledPolicy | 'none' | 'unknown';
  ceilings?: string[];
  record?: Partial<BoundaryRecord>;
};

/**
 * The result of the draft for a call that was sealed under another policy: its verdict and code, or the missing fields.
 */
export function again(world: World, [was, draft]: [CompiledPolicy, CompiledPolicy], under: Under = {}): string {
  const record = { ...decideIn(world, was).record, ...under.record };
  const { recorded = was, ceilings = [] } = under;
  const answer = decideAgain(record, { draft, recorded, ceilings });
  return answer.kind === 'UNREPLAYABLE' ? answer.missing.join() : verdictText(answer);
}

export const outcome = (gate: string, changes: object) => ({ gate, ...changes }) as GateOutcome;
/** The trace of a record with a different outcome of one gate. */
export function traceWith(world: World, was: CompiledPolicy, changed: GateOutcome): Partial<BoundaryRecord> {
  const { gates } = decideIn(world, was).record;
  return { gates: gates.map((one) => (one.gate === changed.gate ? changed : one)) };
}
