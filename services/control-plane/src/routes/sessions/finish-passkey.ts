import { AppError, PrincipalId } from '@countersign/contracts';
import { finishPasskey } from '@countersign/contracts/control-plane';
import { verifyPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import { recordAudit } from '../../store/audit.ts';
import { insertPasskey } from '../../store/passkeys.ts';

export const finishPasskeyRoute = (context: Context) =>
  handleWorkspace(finishPasskey)(async ({ caller, body, requestId }) => {
    const { userId, workspaceId, assertion } = caller;
    const params = { principal: PrincipalId.parse(userId) };
    const passkey = await answerOf('kernel', () =>
      context.kernel.as(assertion, { verifyPasskey }).verifyPasskey({ params, body }),
    );
    const enrolledAt = context.now();
    const { credential_id: credentialId, state } = passkey;
    await context.transaction(async (tx) => {
      // Another authenticator may claim an id that exists. The first owner keeps it.
      if (!(await insertPasskey(tx, { credentialId, userId, workspaceId, enrolledAt })))
        throw new AppError('ALREADY_EXISTS', 'This passkey is already registered. Use it, or register another one');
      const act = {
        action: 'passkey.enrolled',
        actor: userId,
        verdict: 'allow',
        details: { workspaceId, state },
      } as const;
      await recordAudit(tx, { ...act, scope: userId, subject: credentialId, requestId }, enrolledAt);
    });
    return passkey;
  });
