import type { PlatformEventType } from '@countersign/contracts/gateway';
import { oneLine } from '../workspaces/one-line.ts';

const texts: Record<PlatformEventType, { subject: string; text: string }> = {
  'approval.requested': { subject: 'An approval waits for you', text: 'An agent asks for an approval.' },
  'approval.resolved': {
    subject: 'An approval was decided',
    text: 'An approval was decided, or it expired.',
  },
  'run.ended': { subject: 'A run has ended', text: 'A run has ended.' },
  'violation.recorded': { subject: 'A call was denied', text: 'A call of an agent was denied.' },
  'incident.opened': {
    subject: 'An incident is open',
    text: 'A problem needs attention.',
  },
  'invite.created': { subject: 'A person was invited', text: 'An owner invited a person to the workspace.' },
  'subscription.disabled': {
    subject: 'A subscription was disabled',
    text: 'It gets no more notifications. The list of subscriptions shows the reason. Subscribe again to restore it.',
  },
};

type Notification = { type: PlatformEventType; workspace: string; publicUrl: string; body: string };

/** Contains only ids and states, like a webhook. The reader may no longer be a member when the mail arrives. */
export function notificationMail({ type, workspace, publicUrl, body }: Notification): {
  subject: string;
  text: string;
} {
  const { subject, text } = texts[type];
  const { data } = JSON.parse(body) as { data: Record<string, unknown> }; // the payload of the event
  const lines = Object.entries(data).map(([name, value]) => `  ${name}: ${String(value)}`);
  return {
    subject: `${subject} (${oneLine(workspace)})`,
    text: `${text}\n\n${lines.join('\n')}\n\nSee ${publicUrl}\n`,
  };
}
