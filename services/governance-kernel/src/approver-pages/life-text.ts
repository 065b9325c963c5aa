import type { Approval } from '@countersign/contracts/governance-kernel';

type LifeText = {
  heading: string;
  text: string;
  /** When the page stops being true by itself; null: it does not. */
  reloadSeconds: number | null;
};

/** How far the decision is and how long there is. */
export function lifeText(approval: Approval, nowMs: number): LifeText {
  const { state, expires_at, approved_by, quorum } = approval;
  const leftSeconds = Math.max(0, Math.ceil((Date.parse(expires_at) - nowMs) / 1000));
  const votes = `${approved_by.length} of ${quorum} ${quorum === 1 ? 'approval' : 'approvals'} given`;
  const over = (heading: string, text: string): LifeText => ({ heading, text, reloadSeconds: null });
  switch (state) {
    case 'pending': {
      const text = `There are ${durationText(leftSeconds)} left: it expires at ${expires_at}. ${votes}.`;
      return { heading: 'waits for a decision', text, reloadSeconds: leftSeconds + 1 };
    }
    case 'approved':
      return over('approved', `The agent may make this call until ${expires_at}. ${votes}.`);
    case 'consumed':
      return over('approved and used', `The agent has made this call. ${votes}.`);
    case 'denied':
      return over('denied', 'The agent may not make this call.');
    case 'revoked':
      return over('withdrawn', 'The approval was withdrawn; the agent may not make this call.');
    case 'expired':
      return over('expired', 'Nobody decided in time, which is a refusal.');
    default:
      return state satisfies never;
  }
}

function durationText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const parts = [
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(hours > 0 || minutes > 0 ? [`${minutes} min`] : []),
    `${seconds % 60} s`,
  ];
  return parts.join(' ');
}
