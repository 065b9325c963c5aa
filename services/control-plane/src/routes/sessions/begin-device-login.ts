import { beginDeviceLogin } from '@countersign/contracts/control-plane';
import { handlePublic, oauthError } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { newUserCode, shownUserCode } from '../../devices/user-code.ts';
import { deviceLoginLifetimeMs, pollIntervalSeconds } from '../../sessions/lifetimes.ts';
import { hashOf, newDeviceCode } from '../../sessions/tokens.ts';
import { insertDeviceLogin } from '../../store/device-logins.ts';

export const beginDeviceLoginRoute = (context: Context) =>
  handlePublic(beginDeviceLogin, { rateLimit: 'auth', renderError: oauthError })(
    async ({ body: { client_id: client, scope: role, workspace_id: workspaceId = null }, clientAddress: address }) => {
      const deviceCode = newDeviceCode();
      const userCode = newUserCode();
      const createdAt = context.now();
      const expiresAt = new Date(createdAt.getTime() + deviceLoginLifetimeMs);
      const input = { client, address, workspaceId, role, createdAt, expiresAt, intervalSeconds: pollIntervalSeconds };
      await context.transaction((tx) => insertDeviceLogin(tx, { codeHash: hashOf(deviceCode), userCode, ...input }));
      const page = new URL('/console/device', context.config.consoleUrl);
      return {
        device_code: deviceCode,
        user_code: shownUserCode(userCode),
        verification_uri: page.href,
        verification_uri_complete: `${page.href}?user_code=${shownUserCode(userCode)}`,
        expires_in: deviceLoginLifetimeMs / 1_000,
        interval: pollIntervalSeconds,
      };
    },
  );
