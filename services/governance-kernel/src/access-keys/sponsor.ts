import type { PrincipalId } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';
import { identityKeys } from '../identities/identity-keys.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { accessKeys } from './access-keys.ts';

/**
 * The person behind a call: the maker of the agent's key, or the person in the gateway's assertion. `null` for people, and for the key of
 * the operators.
 */
export function sponsorOf(batch: LedgerBatch, { tenant, accessKey, agentKey, assertion }: Caller): PrincipalId | null {
  if (accessKey !== undefined) return batch.row(accessKeys, accessKey)?.createdBy ?? null;
  if (agentKey !== undefined) return batch.row(identityKeys, { tenant, kid: agentKey })?.createdBy ?? null;
  return assertion?.sponsor ?? null;
}
