import { toolsNamed, type RegistryFact } from '@countersign/policy';
import { identityFact, scopesFact } from '../controls/access-keys/key-facts.ts';
import { stopsEveryCall } from '../controls/fences/fence-row.ts';
import { fencesInForce } from '../controls/fences/in-force.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { isBlocked } from '../controls/policy/block-tools.ts';
import type { KnownCall } from './known-call.ts';
import { registryFact } from './registry-fact.ts';

/**
 * Whether, in the current rows, this caller or tool is stopped, revoked or blocked, or the caller lacks a scope. If so,
 * an earlier answer is not repeated. An unknown state of the tool (its server does not list its tools) stops nothing,
 * since the answer already exists.
 */
export function isStopped(batch: LedgerBatch, prepared: KnownCall, nowMs: number): boolean {
  const { caller } = prepared.call;
  // A repeated answer is not a call, so throttles do not count it.
  if (fencesInForce(batch, prepared, nowMs).some(stopsEveryCall)) return true;
  const who = identityFact(batch, caller, nowMs);
  if (who.state !== 'known' || who.value.enrolment === 'revoked' || who.value.credential_state !== 'active')
    return true;
  const scopes = scopesFact(batch, caller, prepared.intent);
  if (scopes.state === 'known' && !scopes.value.required.every((scope) => scopes.value.granted.includes(scope)))
    return true;
  const server = registryFact(batch, { ...prepared, nowMs });
  if (server.state === 'known' && !isTrusted(server.value)) return true;
  return isBlocked(batch, caller.tenant, toolsNamed(prepared.intent));
}

/** An approved server is not trusted with a tool that changed after the approval. */
function isTrusted({ state, tool }: RegistryFact): boolean {
  return state === 'approved' && (tool === null || tool.current_hash === tool.pinned_hash);
}
