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

export const stateWords: Readonly<Record<IncidentState, string>> = {
  open: 'Open',
  acked: 'Acknowledged',
  mitigating: 'Mitigating',
  resolved: 'Resolved',
  closed: 'Closed',
};

export const severityWords: Readonly<Record<IncidentSeverity, string>> = {
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  critical: 'Critical',
};

/** The button and the explanation for a move into each state. */
export const moveWords: Readonly<Record<IncidentState, { act: string; says: string }>> = {
  open: { act: 'Open again', says: 'The problem is back. Someone must acknowledge it again.' },
  acked: { act: 'Acknowledge', says: 'You have seen it and own it from now on.' },
  mitigating: { act: 'Begin to mitigate', says: 'Someone is working on it.' },
  resolved: { act: 'Resolve', says: 'The problem no longer causes harm. Lift its stops, or select those that stay.' },
  closed: { act: 'Close', says: 'The incident is over. A later problem is a new incident.' },
};
