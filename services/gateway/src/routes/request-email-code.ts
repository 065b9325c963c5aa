import { AppError } from '@countersign/contracts';
import { requestEmailCode } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { issueCode } from '../identity/issue-code.ts';
import { mayBeShownCode } from '../identity/shows-code.ts';

export const requestEmailCodeRoute = (context: Context) =>
  handlePublic(requestEmailCode, { rateLimit: 'auth' })(async ({ body: { email }, req, log }) => {
    const { mailer, config } = context;
    if (mailer === null && !config.revealsCodes)
      throw new AppError('MAIL_UNAVAILABLE', 'No mail provider is configured');
    const code = await issueCode(context, email);
    await mailer?.sendCode(email, code).catch((cause: unknown) => {
      log.error('mail.not_sent', { error: cause });
      throw new AppError('MAIL_UNAVAILABLE', 'The mail could not be sent', { cause });
    });
    const isShown = config.revealsCodes && mayBeShownCode(req);
    return { sent: true, email, ...(isShown ? { code } : {}) };
  });
