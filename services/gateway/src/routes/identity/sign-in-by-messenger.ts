import { signInByMessenger } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { signInByInitData } from '../../identity/messenger-sign-in.ts';

export const signInByMessengerRoute = (context: Context) =>
  handlePublic(signInByMessenger, { rateLimit: 'auth' })(({ body: { initData }, requestId }) =>
    signInByInitData(context, { initData, requestId }),
  );
