import { verifySandboxGrant } from '@countersign/contracts/governance-kernel';
import { instant } from '../approvals/timelock.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { grantFindings } from '../sandbox/grant-findings.ts';
import { findRecord } from '../store/record-store.ts';
import { getGrant } from '../store/sandbox-grant-store.ts';
import { recordIdOf, ulidOf } from '@countersign/receipts';

export const verifySandboxGrantRoute = ({ reader, provider, clock, upstreams: { sandboxHost } }: Context) =>
  handleTenant(verifySandboxGrant)(async ({ params, caller: { tenant } }) => {
    const row = await getGrant(reader, tenant, params.grant_id);
    const nowMs = clock().getTime();
    const [record, refusal] = await Promise.all([
      findRecord(reader, tenant, recordIdOf(ulidOf(row.receiptId))),
      sandboxHost.refusal(row.terms),
    ]);
    const findings = grantFindings(provider, row, { record, refusal, nowMs });
    return {
      grant_id: row.id,
      grant_hash: row.grantHash,
      dispatch_ready: findings.length === 0,
      findings,
      checked_at: instant(nowMs),
    };
  });
