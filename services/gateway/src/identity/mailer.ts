import { createTransport } from 'nodemailer';
import { oneLine } from '../workspaces/one-line.ts';

export type Mailer = {
  /** `joins`: the workspace that the code also joins. `null` when the code only signs in. */
  sendCode(email: string, code: string, joins: Joined | null): Promise<void>;
  /** `true` once the mail server has accepted the mail. */
  sendInvite(email: string, invitation: Invitation): Promise<boolean>;
  sendNotification(email: string, mail: { subject: string; text: string }): Promise<void>;
  close(): void;
};

type Joined = { workspace: string; from: string };
type Invitation = Joined & { url: string };

/** The caller waits for the mail server, so a server that takes longer counts as down. */
const smtpTimeoutMs = 10_000;

/** Sends mail by SMTP. A sign-in code in a mail is a secret, and is valid for ten minutes. */
export function createSmtpMailer(options: { smtpUrl: string; from: string }): Mailer {
  const transport = createTransport(options.smtpUrl, { from: options.from });
  return {
    sendCode: async (email, code, joins) => {
      await withTimeout(
        transport.sendMail({
          to: email,
          subject: `${code} is your Countersign sign-in code`,
          text: `Your sign-in code is ${code}. It is valid for 10 minutes.\n${joinedText(joins)}\nIf you did not ask for it, ignore this mail.\n`,
        }),
      );
    },
    sendInvite: async (email, { workspace, from, url }) => {
      await withTimeout(
        transport.sendMail({
          to: email,
          subject: 'You are invited to a workspace of Countersign',
          text: `${oneLine(from)} invites you to ${oneLine(workspace)}.\n\nAccept with this address within 7 days:\n${url}\n\nIf you do not know the sender, ignore this mail.\n`,
        }),
      );
      return true;
    },
    sendNotification: async (email, { subject, text }) => {
      await withTimeout(transport.sendMail({ to: email, subject, text }));
    },
    close: () => transport.close(),
  };
}

/** The invited person decides by this text, since no other text explains the invite. */
function joinedText(joins: Joined | null): string {
  if (joins === null) return '';
  return `It also makes you a member of ${oneLine(joins.workspace)}, to which ${oneLine(joins.from)} invited you.\n`;
}

async function withTimeout(sending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The mail server did not answer in time.')), smtpTimeoutMs);
  });
  await Promise.race([sending, late]).finally(() => clearTimeout(timer));
}
