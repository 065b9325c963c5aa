import type { PrincipalId, TenantId } from '@countersign/contracts';
import { put, wanted } from '../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { approvalTerms, type ApprovalTermsRow } from '../voting/approval-terms.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Terms = { tenant: TenantId; version: number; signaturesOnly: boolean; breakGlass: boolean; by: PrincipalId };

/** Says what votes of a tenant need and seals that, or confirms what stands. Throws ILLEGAL_TRANSITION. */
export async function setApprovalTerms(
  parts: SettingParts,
  { tenant, version, signaturesOnly, breakGlass, by }: Terms,
): Promise<ApprovalTermsRow> {
  const nowMs = parts.clock().getTime();
  const session = ownSession('approval-terms');
  return await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(approvalTerms, tenant)],
    conclude: (batch) => {
      const standing = batch.row(approvalTerms, tenant);
      const isSame = () => standing?.signaturesOnly === signaturesOnly && standing.breakGlass === breakGlass;
      if (risingMove(standing, { version }, isSame) === 'confirm' && standing !== null) return () => standing;
      const row = {
        tenant,
        version,
        signaturesOnly,
        breakGlass,
        passkeysSinceMs: standing?.passkeysSinceMs ?? null,
        updatedAtMs: nowMs,
      };
      const setting = { version, signatures_only: signaturesOnly, break_glass: breakGlass };
      const resource = `approval_terms:${tenant}`;
      const said = { tenant, session, by, nowMs, action: 'approval.terms', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(approvalTerms, row)] }));
      return () => row;
    },
  });
}
