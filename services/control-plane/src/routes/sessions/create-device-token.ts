import { createDeviceToken } from '@countersign/contracts/control-plane';
import { answer, handlePublic, oauthError } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { pollDeviceLogin } from '../../devices/poll-device-login.ts';
import { renewDevice } from '../../devices/renew-device.ts';

export const createDeviceTokenRoute = (context: Context) =>
  handlePublic(createDeviceToken, { renderError: oauthError })(async ({ body, requestId }) => {
    const report =
      body.grant_type === 'refresh_token'
        ? await renewDevice(context, { token: body.refresh_token, client: body.client_id, requestId })
        : await pollDeviceLogin(context, { deviceCode: body.device_code, client: body.client_id, requestId });
    return answer('error' in report ? 400 : 200, report);
  });
