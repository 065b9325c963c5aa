import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { issueCode } from './issue-code.ts';
import { mayBeShownCode } from './shows-code.ts';

type Asking = { email: string; req: IncomingMessage; log: Log };

/**
 * Sends a sign-in code to an address. Answers with it only where it may be shown: in development, without a mail provider, to this
 * machine. Throws MAIL_UNAVAILABLE, RATE_LIMITED.
 */
export async function sendCode(context: Context, { email, req, log }: Asking): Promise<{ code?: string }> {
  const { mailer, config } = context;
  if (mailer === null && !config.revealsCodes) throw new AppError('MAIL_UNAVAILABLE', 'No mail provider is configured');
  const code = await issueCode(context, email);
  await mailer?.sendCode(email, code).catch((cause: unknown) => {
    log.error('mail.not_sent', { error: cause });
    throw new AppError('MAIL_UNAVAILABLE', 'The mail could not be sent', { cause });
  });
  return config.revealsCodes && mayBeShownCode(req) ? { code } : {};
}
