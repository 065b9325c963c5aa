import type { PrincipalId } from '@countersign/contracts';
import type { Caller } from '../../call/governed-call.ts';
import { identityKeys } from '../identities/identity-keys.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { accessKeys } from './access-keys.ts';

/**
 * The person behind the call of an agent: the creator of its key, or the sponsor in the gateway's assertion. `null`
 * when the call has neither.
 */
export function sponsorOf(batch: LedgerBatch, { tenant, accessKey, agentKey, assertion }: Caller): PrincipalId | null {
  if (accessKey !== undefined) return batch.row(accessKeys, accessKey)?.createdBy ?? null;
  if (agentKey !== undefined) return batch.row(identityKeys, { tenant, kid: agentKey })?.createdBy ?? null;
  return assertion?.sponsor ?? null;
}
