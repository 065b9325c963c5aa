import type { PrincipalId, TenantId } from '@countersign/contracts';
import { put, wanted } from '../../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { approvalTerms, type ApprovalTermsRow } from '../voting/approval-terms.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Terms = { tenant: TenantId; version: number; signaturesOnly: boolean; breakGlass: boolean; by: PrincipalId };

/**
 * Sets the vote requirements of a tenant and seals the change, or confirms equal requirements. Throws
 * ILLEGAL_TRANSITION.
 */
export async function setApprovalTerms(
  deps: SettingDeps,
  { tenant, version, signaturesOnly, breakGlass, by }: Terms,
): Promise<ApprovalTermsRow> {
  const nowMs = deps.clock().getTime();
  const session = ownSession('approval-terms');
  return await deps.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(approvalTerms, tenant)],
    conclude: (batch) => {
      const current = batch.row(approvalTerms, tenant);
      const isSame = () => current?.signaturesOnly === signaturesOnly && current.breakGlass === breakGlass;
      if (risingMove(current, { version }, isSame) === 'confirm' && current !== null) return () => current;
      const row = {
        tenant,
        version,
        signaturesOnly,
        breakGlass,
        passkeysSinceMs: current?.passkeysSinceMs ?? null,
        updatedAtMs: nowMs,
      };
      const setting = { version, signatures_only: signaturesOnly, break_glass: breakGlass };
      const resource = `approval_terms:${tenant}`;
      const statement = { tenant, session, by, nowMs, action: 'approval.terms', resource, setting } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(approvalTerms, row)] }));
      return () => row;
    },
  });
}
