import { argumentsDepthMax, type Digest } from '@countersign/contracts';
import type { Demand, RecordedIntent } from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalize, type CryptoProvider } from '@countersign/crypto';
import { digest } from './hashes.ts';
import { plain, quotedOrNull } from './json-text.ts';

type Judged = Pick<RecordedIntent, 'intent_hash' | 'effect_level' | 'facts' | 'capped_facts'> & { demand: Demand };

/**
 * The hash that an approval binds: SHA-256 of canonical JSON. It covers the intent, the effect, the demand and the
 * facts that the policy read. The fact `now` is excluded, because the approved call is later than the requested one.
 * Otherwise no approval could fit under a policy that reads the clock. Rules that read it are evaluated again at the
 * time of the call.
 */
export function judgedHash(
  provider: CryptoProvider,
  { intent_hash, effect_level, facts, capped_facts, demand }: Judged,
): Digest {
  const bound = Object.hasOwn(facts, 'now') ? withoutNow(facts) : facts;
  return digest(
    provider,
    `{${cappedFactsMember(capped_facts)}"demand":${demandText(demand)},"effect_level":"${plain(effect_level)}","facts":${factsText(bound)},` +
      `"intent_hash":"${plain(intent_hash)}"}`,
  );
}

function withoutNow(facts: RecordedIntent['facts']): RecordedIntent['facts'] {
  const bound: RecordedIntent['facts'] = {};
  for (const [name, value] of Object.entries(facts)) if (name !== 'now') bound[name] = value;
  return bound;
}

export function demandText({ egress_bytes, spend_micros, tool_calls, writes }: Demand): string {
  return (
    `{"egress_bytes":${canonicalNumber(egress_bytes)},"spend_micros":${quotedOrNull(spend_micros)},` +
    `"tool_calls":${canonicalNumber(tool_calls)},"writes":${canonicalNumber(writes)}}`
  );
}

/** The member and a comma, or an empty text. */
export function cappedFactsMember(capped: RecordedIntent['capped_facts']): string {
  return capped === undefined ? '' : `"capped_facts":${canonicalize(capped)},`;
}

/**
 * The endpoints limit the depth of arguments and context, and a fact is a part of them. A deeper fact is refused,
 * because readers would not accept it.
 */
const factsDepthMax = argumentsDepthMax + 1;

export function factsText(facts: RecordedIntent['facts']): string {
  return canonicalize(facts, { depthMax: factsDepthMax });
}
