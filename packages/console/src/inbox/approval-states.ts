import type { Approval } from '@countersign/contracts/governance-kernel';
import type { Tone } from '../parts/mark.tsx';

type State = Approval['state'];

export const stateTones: Readonly<Record<State, Tone>> = {
  pending: 'wait',
  approved: 'good',
  consumed: 'plain',
  denied: 'bad',
  revoked: 'plain',
  expired: 'plain',
};

export const stateWords: Readonly<Record<State, string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  consumed: 'Used',
  denied: 'Denied',
  revoked: 'Withdrawn',
  expired: 'Expired',
};
