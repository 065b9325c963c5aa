import { argumentsDepthMax, type Digest } from '@countersign/contracts';
import type { Demand, RecordedIntent } from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalize, type CryptoProvider } from '@countersign/crypto';
import { digest } from './hashes.ts';
import { plain, quotedOrNull } from './json-text.ts';

type Judged = Pick<RecordedIntent, 'intent_hash' | 'effect_level' | 'facts' | 'capped_facts'> & { demand: Demand };

/**
 * The values that an approval binds: the intent, the effect, the demand and the facts that the policy read. SHA-256 of
 * the canonical JSON of these members. The fact `now` is left out, or no approval of a policy that reads the clock
 * could ever fit: the call comes later than its question. Such a rule is evaluated again at the call's own time.
 */
export function judgedHash(
  provider: CryptoProvider,
  { intent_hash, effect_level, facts, capped_facts, demand }: Judged,
): Digest {
  const { now: _, ...bound } = facts;
  return digest(
    provider,
    `{${cappedFactsMember(capped_facts)}"demand":${demandText(demand)},"effect_level":"${plain(effect_level)}","facts":${factsText(bound)},` +
      `"intent_hash":"${plain(intent_hash)}"}`,
  );
}

export function demandText({ egress_bytes, spend_micros, tool_calls, writes }: Demand): string {
  return (
    `{"egress_bytes":${canonicalNumber(egress_bytes)},"spend_micros":${quotedOrNull(spend_micros)},` +
    `"tool_calls":${canonicalNumber(tool_calls)},"writes":${canonicalNumber(writes)}}`
  );
}

/** With its comma, or nothing. */
export function cappedFactsMember(capped: RecordedIntent['capped_facts']): string {
  return capped === undefined ? '' : `"capped_facts":${canonicalize(capped)},`;
}

/** Each fact is a part of arguments or context, which doors bound. A fact that no reader would take is not sealed. */
const factsDepthMax = argumentsDepthMax + 1;

export function factsText(facts: RecordedIntent['facts']): string {
  return canonicalize(facts, { depthMax: factsDepthMax });
}
