import { answerDeviceLogin } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { requireDeviceLogin } from '../../devices/require-device-login.ts';
import { rightsToGive } from '../../devices/rights-to-give.ts';
import { handlePerson } from '../../handle.ts';
import { notFound } from '../../not-found.ts';
import { requireSession } from '../../sessions/require-session.ts';
import { recordAudit } from '../../store/audit.ts';
import * as deviceLogins from '../../store/device-logins.ts';

export const answerDeviceLoginRoute = (context: Context) =>
  handlePerson(answerDeviceLogin, { rateLimit: 'auth' })(
    async ({ caller, params: { user_code }, body, clientAddress, requestId }) => {
      const { id: sessionId, userId } = await requireSession(context, caller);
      const login = await requireDeviceLogin(context, { typed: user_code, address: clientAddress });
      const input =
        body.decision === 'deny'
          ? null
          : await rightsToGive(context, caller, {
              login,
              workspaceId: body.workspace_id,
              role: body.role ?? login.role,
            });
      const answer = input === null ? { state: 'denied' as const } : { state: 'approved' as const, ...input };
      const now = context.now();
      const { client, address } = login;
      await context.transaction(async (tx) => {
        if (!(await deviceLogins.answerDeviceLogin(tx, login, { ...answer, userId, sessionId, now }))) throw notFound();
        const act = { action: `device.${answer.state}`, actor: userId, verdict: 'allow', requestId } as const;
        const details = { program: client, address, ...(input === null ? {} : { role: input.role }) };
        await recordAudit(tx, { ...act, scope: input?.workspaceId ?? userId, subject: userId, details }, now);
      });
      return { decision: body.decision, client, workspace_id: input?.workspaceId ?? null, role: input?.role ?? null };
    },
  );
