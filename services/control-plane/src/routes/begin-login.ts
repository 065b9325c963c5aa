import { fromThisMachineHeader } from '@countersign/contracts';
import { beginLogin } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { gatewayAnswers } from '../directory/gateway-answers.ts';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { instant } from '../store/instant.ts';
import { insertLogin } from '../store/logins.ts';

export const beginLoginRoute = (context: Context) =>
  handlePublic(beginLogin, { rateLimit: 'auth' })(async ({ body: { method, email }, req }) => {
    const isLocal = req.headers[fromThisMachineHeader] === '1';
    const { code } = await gatewayAnswers(() => context.directory.sendSignInCode({ body: { email, isLocal } }));
    const loginId = newLoginId();
    const createdAt = context.now();
    const expiresAt = new Date(createdAt.getTime() + loginLifetimeMs);
    await context.transaction((tx) => insertLogin(tx, { idHash: hashOf(loginId), email, createdAt, expiresAt }));
    return { login_id: loginId, method, expires_at: instant(expiresAt), ...(code === undefined ? {} : { code }) };
  });
