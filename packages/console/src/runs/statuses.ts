import type { Run, RunStatus, TaskStatus } from '@countersign/contracts/gateway';
import type { Tone } from '../parts/mark.tsx';

const tones: Readonly<Record<RunStatus | TaskStatus, Tone>> = {
  pending: 'plain',
  queued: 'live',
  running: 'live',
  awaiting_approval: 'wait',
  completed: 'good',
  failed: 'bad',
  denied: 'bad',
  budget_exhausted: 'bad',
  cancelled: 'plain',
};

export function toneOf(status: RunStatus | TaskStatus): Tone {
  return tones[status];
}

const words: Readonly<Record<RunStatus | TaskStatus, string>> = {
  pending: 'Not started',
  queued: 'Queued',
  running: 'Running',
  awaiting_approval: 'Waiting for a person',
  completed: 'Completed',
  failed: 'Failed',
  denied: 'Denied',
  budget_exhausted: 'Out of budget',
  cancelled: 'Stopped',
};

export function inWords(status: RunStatus | TaskStatus): string {
  return words[status];
}

const live: ReadonlySet<RunStatus | TaskStatus> = new Set(['queued', 'running', 'awaiting_approval']);

export function isLive({ status }: Pick<Run, 'status'>): boolean {
  return live.has(status);
}
