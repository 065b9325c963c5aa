import { toolsNamed, type RegistryFact } from '@countersign/policy';
import { identityFact, scopesFact } from '../access-keys/key-facts.ts';
import { stopsEveryCall } from '../fences/fence-row.ts';
import { fencesInForce } from '../fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { isBlocked } from '../policy/block-tools.ts';
import type { KnownCall } from './known-call.ts';
import { registryFact } from './registry-fact.ts';

/**
 * Whether this caller or this tool is stopped, by the current rows of the batch. An earlier answer is then not
 * repeated. An unknown state (a server that does not list its tools) stops nothing, since the answer exists.
 */
export function isStopped(batch: LedgerBatch, known: KnownCall, nowMs: number): boolean {
  const { caller } = known.call;
  // Telling an answer again is no call that a throttle would count.
  if (fencesInForce(batch, known, nowMs).some(stopsEveryCall)) return true;
  const who = identityFact(batch, caller, nowMs);
  if (who.state !== 'known' || who.value.enrolment === 'revoked' || who.value.credential_state !== 'active')
    return true;
  const scopes = scopesFact(batch, caller, known.intent);
  if (scopes.state === 'known' && !scopes.value.required.every((scope) => scopes.value.granted.includes(scope)))
    return true;
  const server = registryFact(batch, { ...known, nowMs });
  if (server.state === 'known' && !isTrusted(server.value)) return true;
  return isBlocked(batch, caller.tenant, toolsNamed(known.intent));
}

/** An approved server whose tool has become another one than was approved is not trusted with it. */
function isTrusted({ state, tool }: RegistryFact): boolean {
  return state === 'approved' && (tool === null || tool.current_hash === tool.pinned_hash);
}
