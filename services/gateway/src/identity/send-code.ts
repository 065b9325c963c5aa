import { AppError } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import type { AcceptedInvite } from '../members/accept-invite.ts';
import { issueCode } from './issue-code.ts';

type Asking = {
  email: string;
  invite: AcceptedInvite | null;
  /** Whether the caller is on this machine. */
  isLocal: boolean;
  log: Log;
};

/**
 * Sends a code that signs in, and joins by an invite if one is given. Returns the code only where it may be shown: in
 * development, without a mail provider, to this machine. Throws MAIL_UNAVAILABLE, RATE_LIMITED.
 */
export async function sendCode(
  context: Pick<Context, 'config' | 'mailer' | 'now' | 'transaction'>,
  { email, invite, isLocal, log }: Asking,
): Promise<{ code?: string }> {
  const { mailer, config } = context;
  if (mailer === null && !config.revealsCodes)
    throw new AppError('MAIL_UNAVAILABLE', 'This installation has no mail provider. Ask its operator to configure one');
  const code = await issueCode(context, { email, inviteId: invite?.id ?? null });
  await mailer?.sendCode(email, code, invite).catch((cause: unknown) => {
    log.error('mail.not_sent', { error: cause });
    throw new AppError('MAIL_UNAVAILABLE', 'The mail could not be sent. Try again later', { cause });
  });
  return config.revealsCodes && isLocal ? { code } : {};
}
