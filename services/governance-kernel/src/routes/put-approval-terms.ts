import { ApprovalTerms, putApprovalTerms } from '@countersign/contracts/governance-kernel';
import { setApprovalTerms } from '../passkeys/set-approval-terms.ts';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';

export const putApprovalTermsRoute = (kernel: Context) =>
  handleSystem(putApprovalTerms)(async ({ params: { tenant }, body, caller }) => {
    const { version, signatures_only: signaturesOnly } = body;
    const row = await setApprovalTerms(kernel, { tenant, version, signaturesOnly, by: caller.principal });
    const { passkeysSinceMs: sinceMs, updatedAtMs } = row;
    return ApprovalTerms.parse({
      tenant_id: tenant,
      version: row.version,
      signatures_only: row.signaturesOnly,
      passkeys_since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
      updated_at: new Date(updatedAtMs).toISOString(),
    });
  });
