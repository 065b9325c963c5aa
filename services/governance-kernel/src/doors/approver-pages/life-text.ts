import type { Approval } from '@countersign/contracts/governance-kernel';

type LifeText = {
  heading: string;
  text: string;
  /** The time after which the page reloads. `null` when it does not reload. */
  reloadSeconds: number | null;
};

/** The state of the decision and the remaining time. */
export function lifeText(approval: Approval, nowMs: number): LifeText {
  const { state, expires_at, approved_by, quorum, timelock_seconds } = approval;
  const leftSeconds = Math.max(0, Math.ceil((Date.parse(expires_at) - nowMs) / 1000));
  const glass = approval.break_glass === null ? '' : `${approval.break_glass.by} broke the glass. `;
  const votes = `${glass}${approved_by.length} of ${quorum} ${quorum === 1 ? 'approval' : 'approvals'} given`;
  const over = (heading: string, text: string): LifeText => ({ heading, text, reloadSeconds: null });
  switch (state) {
    case 'pending': {
      const lock =
        timelock_seconds === 0 ? '' : ` After the approval, the call waits ${durationText(timelock_seconds)}.`;
      const text = `The request expires in ${durationText(leftSeconds)}, at ${expires_at}. ${votes}.${lock}`;
      return { heading: 'waits for a decision', text, reloadSeconds: leftSeconds + 1 };
    }
    case 'approved':
      return approvedText(approval, { votes, nowMs });
    case 'consumed':
      return over('approved and used', `The agent has made this call. ${votes}.`);
    case 'denied':
      return over('denied', 'The agent may not make this call.');
    case 'revoked':
      return over('withdrawn', 'The approval was withdrawn; the agent may not make this call.');
    case 'expired':
      return over('expired', expiredText(approval));
    default:
      return state satisfies never;
  }
}

function expiredText({ rejection_reason: reason }: Approval): string {
  if (reason !== null) return `The agent may not make this call. ${reason}.`;
  return 'There was no decision in time, so the agent may not make this call. The agent may ask again.';
}

function approvedText(
  { expires_at, timelock_until }: Approval,
  { votes, nowMs }: { votes: string; nowMs: number },
): LifeText {
  const waitsMs = timelock_until === null ? 0 : Date.parse(timelock_until) - nowMs;
  if (timelock_until === null || waitsMs <= 0) {
    const text = `The agent may make this call until ${expires_at}. ${votes}.`;
    return { heading: 'approved', text, reloadSeconds: null };
  }
  const text = `The agent may make this call from ${timelock_until} until ${expires_at}, unless the approval is withdrawn first. ${votes}.`;
  return { heading: 'approved, and waits', text, reloadSeconds: Math.ceil(waitsMs / 1000) + 1 };
}

function durationText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const pieces = [
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(hours > 0 || minutes > 0 ? [`${minutes} min`] : []),
    `${seconds % 60} s`,
  ];
  return pieces.join(' ');
}
