import { sha256Of, ConformanceReportId, type PrincipalId, SessionId } from '@countersign/contracts';
import type { ConformanceReport, SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url, parsePlainJson, type CryptoProvider, type Signer } from '@countersign/crypto';
import { announcementStatement, receiptIdOf } from '@countersign/receipts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import { systemTenant } from '../../ledger/own-sessions.ts';

type AttestDeps = {
  ledger: Pick<GroupCommit, 'submit'>;
  provider: CryptoProvider;
  signer: Signer;
  newUlid: (nowMs: number) => string;
};

export function reportIdOf(ulid: string): ConformanceReportId {
  return ConformanceReportId.parse(`cfr_${ulid}`);
}

/**
 * Signs a report, and puts its hash into the log under a receipt of its own. Rejects with RECEIPT_STORE_UNAVAILABLE.
 */
export async function attestReport(
  { ledger, provider, signer, newUlid }: AttestDeps,
  { report, by }: { report: ConformanceReport; by: PrincipalId },
): Promise<SignedConformanceReport> {
  const bytes = canonicalBytes(parsePlainJson(report));
  const report_hash = sha256Of(provider, bytes);
  const ulid = newUlid(Date.parse(report.ended_at));
  const { report_id, verdict, vectors_hash, ended_at } = report;
  const chain = { tenant: systemTenant, session: SessionId.parse('conformance') };
  const statement = announcementStatement(provider, {
    ...chain,
    ulid,
    at: ended_at,
    principal: by,
    kind: 'conformance',
    action: 'conformance.run',
    tool: null,
    resource: `conformance:${report_id}`,
    effectLevel: 'E0',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: report_hash,
    policyHash: report.policy_hash,
    policyEpoch: 0,
    approvalId: null,
    facts: { report_hash, report_id, verdict, vectors_hash },
  });
  await ledger.submit({
    chain,
    wants: [],
    conclude: (batch) => {
      batch.seal(statement, () => ({ changes: [] }));
      return () => undefined;
    },
  });
  const signature = { alg: 'Ed25519' as const, key_id: signer.keyId, value: encodeBase64Url(signer.sign(bytes)) };
  return { report, report_hash, signature, receipt_id: receiptIdOf(ulid) };
}
