import type { IncidentSeverity, IncidentState } from '@countersign/contracts/control-plane';
import type { Tone } from '../parts/mark.tsx';

export const stateTones: Readonly<Record<IncidentState, Tone>> = {
  open: 'bad',
  acked: 'wait',
  mitigating: 'live',
  resolved: 'good',
  closed: 'plain',
};

export const severityTones: Readonly<Record<IncidentSeverity, Tone>> = {
  low: 'plain',
  medium: 'wait',
  high: 'bad',
  critical: 'bad',
};

/** What a move into each state is called. */
export const moveWords: Readonly<Record<IncidentState, { act: string; says: string }>> = {
  open: { act: 'Open again', says: 'It has come back, and somebody has to take it anew.' },
  acked: { act: 'Acknowledge', says: 'You have seen it, and it is yours from now on.' },
  mitigating: { act: 'Begin to mitigate', says: 'Somebody works on it.' },
  resolved: { act: 'Resolve', says: 'It does no harm any more. Stops of its own are lifted, or named here to stay.' },
  closed: { act: 'Close', says: 'It is over. What comes after it is another incident.' },
};
