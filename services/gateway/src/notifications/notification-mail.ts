import type { PlatformEventType } from '@countersign/contracts/gateway';
import { oneLine } from '../workspaces/one-line.ts';

const told: Record<PlatformEventType, { subject: string; text: string }> = {
  'approval.requested': { subject: 'An approval waits for you', text: 'An agent asks for an approval.' },
  'approval.resolved': {
    subject: 'An approval was decided',
    text: 'An approval was decided, or it expired.',
  },
  'run.ended': { subject: 'A run has ended', text: 'A run has ended.' },
  'violation.recorded': { subject: 'A call was denied', text: 'The policy denied a call of an agent.' },
  'incident.opened': {
    subject: 'An incident is open',
    text: 'A problem needs attention.',
  },
  'invite.created': { subject: 'A person was invited', text: 'An owner invited a person to the workspace.' },
  'subscription.disabled': {
    subject: 'A subscription was given up',
    text: 'Notifications did not arrive there, so no more are sent. Subscribe again when it is back.',
  },
};

type Told = { type: PlatformEventType; workspace: string; publicUrl: string; body: string };

/** Ids alone, as in a webhook: who reads the mailbox may be no member any more by the time that the mail arrives. */
export function notificationMail({ type, workspace, publicUrl, body }: Told): { subject: string; text: string } {
  const { subject, text } = told[type];
  const { data } = JSON.parse(body) as { data: Record<string, unknown> }; // what was announced
  const lines = Object.entries(data).map(([name, value]) => `  ${name}: ${String(value)}`);
  return {
    subject: `${subject} (${oneLine(workspace)})`,
    text: `${text}\n\n${lines.join('\n')}\n\nSee ${publicUrl}\n`,
  };
}
