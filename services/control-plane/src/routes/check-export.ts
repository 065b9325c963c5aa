import { checkExport } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { checkText } from '../verification/check-text.ts';

/** One for everybody: whoever asks from many addresses gets no more of it. */
const oneTurn = 'verification';

export const checkExportRoute = (context: Context) =>
  handlePublic(checkExport, { rateLimit: 'verify' })(async ({ body: { export: text, expect = {} }, signal }) => {
    // In its turn alone: who is sent away has asked nobody anything.
    const check = async () => checkText(text, { trust: await trustedKeys(context), expected: expect, signal });
    return await context.verificationTurns.take(oneTurn, check);
  });
