import type { Digest, Instant } from '@countersign/contracts';
import type { Demand as RecordedDemand } from '@countersign/contracts/governance-kernel';
import { readFacts, type CompiledPolicy, type Demand } from '@countersign/policy';
import { judgedHash, recordedFacts, type RecordedFacts } from '@countersign/receipts';
import { demandOf, recordedDemand } from './demand.ts';
import type { NamedCall } from './governed-call.ts';
import type { Hasher, SealedIntent } from './normalise.ts';

/** The judged values of a call beside its intent. An approval binds both by one hash. */
export type Judged = {
  readonly demand: Demand;
  readonly recorded: RecordedDemand;
  /** The facts of the call that the policy reads. */
  readonly read: RecordedFacts;
  readonly hash: Digest;
};

type Known = {
  intent: SealedIntent;
  policy: CompiledPolicy | null;
  now: Instant;
  /** Which of the relations that the policy asks for hold. */
  relations: Readonly<Record<string, boolean>>;
};

/** The same for a call that is made and for one whose approval is asked for beforehand. */
export function judgedOf(
  { provider, saltOf }: Hasher,
  call: Pick<NamedCall, 'demand'>,
  { intent, policy, now, relations }: Known,
): Judged {
  const demand = demandOf(call, intent);
  const recorded = recordedDemand(demand);
  const facts = policy === null ? {} : readFacts(policy, intent, { now, relations });
  const read = recordedFacts(provider, saltOf(intent.tenant), facts);
  const { intent_hash, effect_level } = intent;
  const hash = judgedHash(provider, { intent_hash, effect_level, ...read, demand: recorded });
  return { demand, recorded, read, hash };
}
