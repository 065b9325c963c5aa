import type { SessionId, TenantId } from '@countersign/contracts';
import { createKernelClient, type KernelClient } from '@countersign/contracts/routes';
import { recordIdOf, ulidOf } from '@countersign/receipts';
import { verifyReceipt, verifyRecord } from '@countersign/verifier';
import { regardlessOfRevocation } from '../proof/trusted-keys.ts';
import type { DoorAnswer } from './ask-door.ts';
import type { Site } from './live.ts';
import { vectorPrincipal } from './tenants.ts';

type Where = { tenant: TenantId; session: SessionId };

/**
 * Checks that the answer was sealed: its record and receipt exist, verify offline, and agree with the answer. Throws
 * otherwise.
 */
export async function assertEvidence(site: Site, { tenant, session }: Where, answer: DoorAnswer): Promise<void> {
  const { receipt_id: id, verdict, reason_code: code } = answer;
  if (id === null) throw new Error(`${verdict} ${code} has no receipt`);
  const client = clientOf(site, tenant);
  const receipt = (await client.getReceipt({ params: { receipt_id: id } })).body;
  const record = (await client.getRecord({ params: { record_id: recordIdOf(ulidOf(id)) } })).body;
  // Revocations are not judged: the receipt is new, and a judgement would require the log.
  const { payload } = verifyReceipt(receipt, regardlessOfRevocation(site.trust), site.provider);
  verifyRecord(record, receipt, site.provider);
  const text = [payload.verdict, payload.reason_code, payload.tenant_id, payload.session_id].join(' ');
  const wanted = [verdict, code, tenant, session].join(' ');
  if (text !== wanted) throw new Error(`the receipt ${id} says ${text} instead of ${wanted}`);
}

/** Checks that nothing was executed: no vector permits a call that the kernel would execute. Throws otherwise. */
export async function assertNothingExecuted(site: Site, { tenant, session }: Where): Promise<void> {
  const query = { session_id: session, kind: 'outcome', limit: 1 } as const;
  const { data } = (await clientOf(site, tenant).listReceipts({ query })).body;
  if (data.length > 0) throw new Error('something was executed upstream');
  if ((await site.countOpenCalls(tenant)) > 0) throw new Error('a call is on its way upstream');
}

function clientOf({ url, token }: Site, tenant: TenantId): ReturnType<KernelClient['as']> {
  return createKernelClient({ baseUrl: url, apiKey: token }).as({ tenant, principal: vectorPrincipal });
}
