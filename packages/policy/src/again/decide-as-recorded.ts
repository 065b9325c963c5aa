import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { ceilingsIn } from '../ceilings.ts';
import { failClosedCodes } from '../gate.ts';
import { decideAgain, type DecidedAgain } from './decide-again.ts';
import { outcomeOf, type RecordedPolicy } from './recorded-call.ts';

/** The gates whose outcome is unknown when their facts were unavailable. */
const blind = ['rules', 'budget'] as const;

/**
 * The same call once more, under the very policy that it was decided by: `recorded`, which `decideAgain` tells about.
 * The gate of the policy may not have passed, because the call ended before it, or because the bundle was stale or
 * unsigned. Then no rule was evaluated, and the verdict is that of the trace. The record has to be verified before.
 * Pure, and never throws for a verified record of the kind `decision`.
 */
export function decideAsRecorded(record: BoundaryRecord, recorded: RecordedPolicy): DecidedAgain {
  const { verdict, reason_code, matched_rules } = record;
  if (outcomeOf(record, 'policy')?.outcome !== 'pass')
    return { kind: 'decided', verdict, reason_code, matched_rules: [...matched_rules] };
  if (typeof recorded === 'string') return { kind: 'UNREPLAYABLE', missing: ['policy'] };
  // That it held the ceilings of then, its gate has found out.
  const ceilings = [...ceilingsIn(recorded.bundle.rules).keys()];
  const again = decideAgain(record, { draft: recorded, recorded, ceilings });
  const unseen = blind.filter((gate) => failClosedCodes[gate] === reason_code).map((gate) => `gates.${gate}`);
  const differs = again.kind === 'decided' && again.verdict !== verdict;
  return differs && unseen.length > 0 ? { kind: 'UNREPLAYABLE', missing: unseen } : again;
}
