import { PrincipalId, TenantId } from '@countersign/contracts';
import { revokeOwnPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { removePasskey, type StoredPasskey } from '../store/passkeys.ts';

/**
 * Revokes a passkey at the kernel, so that no service accepts it, and removes it from the list. Throws
 * GOVERNANCE_UNAVAILABLE. In that case the passkey stays in the list.
 */
export async function endPasskey(
  context: Pick<Context, 'kernel' | 'now' | 'transaction'>,
  passkey: StoredPasskey,
  requestId: string,
): Promise<void> {
  const { userId, workspaceId, credentialId: credential_id } = passkey;
  await answerOf('kernel', () =>
    context.kernel.own({ revokeOwnPasskey }).revokeOwnPasskey({
      params: { tenant: TenantId.parse(workspaceId), credential_id },
      body: { principal_id: PrincipalId.parse(userId) },
    }),
  );
  await context.transaction(async (tx) => {
    if (!(await removePasskey(tx, passkey))) return;
    const act = { action: 'passkey.ended', actor: userId, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...act, scope: userId, subject: credential_id, details: { workspaceId } }, context.now());
  });
}
