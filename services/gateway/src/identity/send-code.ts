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
 * Sends a code to an address: one that signs in, or one that joins by an invite as well. Answers with it only where it may be shown: in
 * development, without a mail provider, to this machine. Throws MAIL_UNAVAILABLE, RATE_LIMITED.
 */
export async function sendCode(context: Context, { email, invite, isLocal, log }: Asking): Promise<{ code?: string }> {
  const { mailer, config } = context;
  if (mailer === null && !config.revealsCodes) throw new AppError('MAIL_UNAVAILABLE', 'No mail provider is configured');
  const code = await issueCode(context, { email, inviteId: invite?.id ?? null });
  await mailer?.sendCode(email, code, invite).catch((cause: unknown) => {
    log.error('mail.not_sent', { error: cause });
    throw new AppError('MAIL_UNAVAILABLE', 'The mail could not be sent', { cause });
  });
  return config.revealsCodes && isLocal ? { code } : {};
}
