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

export function inWords(status: string): string {
  return status.replaceAll('_', ' ');
}

const live: ReadonlySet<RunStatus | TaskStatus> = new Set(['queued', 'running', 'awaiting_approval']);

export function isLive({ status }: Pick<Run, 'status'>): boolean {
  return live.has(status);
}
