import type { Digest, Instant } from '@countersign/contracts';
import type { Demand as RecordedDemand } from '@countersign/contracts/governance-kernel';
import { readFacts, type CompiledPolicy, type Demand } from '@countersign/policy';
import { judgedHash, recordedFacts, type RecordedFacts } from '@countersign/receipts';
import { demandOf, recordedDemand } from './demand.ts';
import type { NamedCall } from './governed-call.ts';
import type { Hasher, SealedIntent } from './normalise.ts';

/** The judged values of a call besides its intent. An approval binds these values and the intent by one hash. */
export type Judged = {
  readonly demand: Demand;
  readonly recorded: RecordedDemand;
  /** The facts of the call that the policy reads. */
  readonly read: RecordedFacts;
  readonly hash: Digest;
};

type Basis = {
  intent: SealedIntent;
  policy: CompiledPolicy | null;
  now: Instant;
  /** The relations that the policy queries, and whether each holds. */
  relations: Readonly<Record<string, boolean>>;
};

/** The judged values are computed in the same way for a call and for an approval that is requested beforehand. */
export function judgedOf(
  { provider, saltOf }: Hasher,
  call: Pick<NamedCall, 'demand'>,
  { intent, policy, now, relations }: Basis,
): Judged {
  const demand = demandOf(call, intent);
  const recorded = recordedDemand(demand);
  const facts = policy === null ? {} : readFacts(policy, intent, { now, relations });
  const read = recordedFacts(provider, saltOf(intent.tenant), facts);
  const { intent_hash, effect_level } = intent;
  const judged = { intent_hash, effect_level, facts: read.facts, capped_facts: read.capped_facts, demand: recorded };
  const hash = judgedHash(provider, judged);
  return { demand, recorded, read, hash };
}
