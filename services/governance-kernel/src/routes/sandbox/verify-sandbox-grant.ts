import { instantOf } from '@countersign/contracts';
import { verifySandboxGrant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { grantFindings } from '../../controls/sandbox/grant-findings.ts';
import { serverKey } from '../../registry/mcp-servers.ts';
import { subjectOf } from '../../controls/sandbox/sandbox-grants.ts';
import { findRecord } from '../../store/record-store.ts';
import { getGrant } from '../../store/sandbox-grant-store.ts';
import { recordIdOf, ulidOf } from '@countersign/receipts';

export const verifySandboxGrantRoute = ({
  reader,
  provider,
  clock,
  registryDesk,
  upstreams: { sandboxHost },
}: Context) =>
  handleTenant(verifySandboxGrant)(async ({ params, caller: { tenant } }) => {
    const row = await getGrant(reader, tenant, params.grant_id);
    const nowMs = clock().getTime();
    const [record, refusal, servers] = await Promise.all([
      findRecord(reader, tenant, recordIdOf(ulidOf(row.receiptId))),
      sandboxHost.refusal(row.terms),
      registryDesk.loadServers(tenant),
    ]);
    const subject = subjectOf(row.subject);
    const server = servers.find(
      (one) => 'server_id' in subject && one.row.key === serverKey(tenant, subject.server_id),
    );
    const configHash = server?.row.configHash ?? null;
    const findings = grantFindings(provider, row, { record, configHash, refusal, nowMs });
    return {
      grant_id: row.id,
      grant_hash: row.grantHash,
      dispatch_ready: findings.length === 0,
      findings,
      checked_at: instantOf(nowMs),
    };
  });
