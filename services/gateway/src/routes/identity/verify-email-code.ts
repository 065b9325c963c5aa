import { verifyEmailCode } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { signIn } from '../../identity/sign-in.ts';

export const verifyEmailCodeRoute = (context: Context) =>
  handlePublic(verifyEmailCode, { rateLimit: 'auth' })(({ body, requestId }) =>
    signIn(context, { ...body, requestId }),
  );
