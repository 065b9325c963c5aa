import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { ceilingsIn } from '../ceilings.ts';
import { failClosedCodes } from '../gate.ts';
import { decideAgain, type DecidedAgain } from './decide-again.ts';
import { outcomeOf, type RecordedPolicy } from './recorded-call.ts';

/** The gates whose result is unknown when their facts were unavailable. */
const blind = ['rules', 'budget'] as const;

/**
 * Repeats the decision under the policy that made it: `recorded`, as in `decideAgain`. If the policy gate did not pass,
 * no rule was evaluated, and the recorded verdict is returned. This happens when an earlier gate ended the call, or
 * when the bundle was, for example, stale or unsigned. The record must be verified before. Pure, and never throws for a
 * verified record of the kind `decision`.
 */
export function decideAsRecorded(record: BoundaryRecord, recorded: RecordedPolicy): DecidedAgain {
  const { verdict, reason_code, matched_rules } = record;
  if (outcomeOf(record, 'policy')?.outcome !== 'pass')
    return { kind: 'decided', verdict, reason_code, matched_rules: [...matched_rules] };
  if (typeof recorded === 'string') return { kind: 'UNREPLAYABLE', missing: ['policy'] };
  // The policy gate has checked that the policy contained the ceilings of its time.
  const ceilings = [...ceilingsIn(recorded.bundle.rules).keys()];
  const again = decideAgain(record, { draft: recorded, recorded, ceilings });
  const unseen = blind.filter((gate) => failClosedCodes[gate] === reason_code).map((gate) => `gates.${gate}`);
  const differs = again.kind === 'decided' && again.verdict !== verdict;
  return differs && unseen.length > 0 ? { kind: 'UNREPLAYABLE', missing: unseen } : again;
}
