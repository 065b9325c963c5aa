import { ApprovalTerms, putApprovalTerms } from '@countersign/contracts/governance-kernel';
import { setApprovalTerms } from '../../controls/passkeys/set-approval-terms.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';

export const putApprovalTermsRoute = (kernel: Context) =>
  handleSystem(putApprovalTerms)(async ({ params: { tenant }, body, caller }) => {
    const { version, signatures_only: signaturesOnly, break_glass: breakGlass } = body;
    const row = await setApprovalTerms(kernel, { tenant, version, signaturesOnly, breakGlass, by: caller.principal });
    const { passkeysSinceMs: sinceMs, updatedAtMs } = row;
    return ApprovalTerms.parse({
      tenant_id: tenant,
      version: row.version,
      signatures_only: row.signaturesOnly,
      break_glass: row.breakGlass,
      passkeys_since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
      updated_at: new Date(updatedAtMs).toISOString(),
    });
  });
