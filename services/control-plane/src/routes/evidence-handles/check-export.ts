import { checkExport } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { trustedKeys } from '../../trust/trusted-keys.ts';
import { verificationOf } from '../../verification/verification-of.ts';

export const checkExportRoute = (context: Context) =>
  handlePublic(checkExport, { rateLimit: 'verify' })(async ({ body, signal, clientAddress: name }) => {
    const { export: text, expect = {} } = body;
    const trust = await trustedKeys(context);
    return verificationOf(await context.judge.judge({ text, trust, expected: expect }, { name, signal }));
  });
