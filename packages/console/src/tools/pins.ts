import type { RegisteredTool } from '@countersign/contracts/governance-kernel';
import type { Tone } from '../parts/mark.tsx';

type Pin = RegisteredTool['pin'];

export const pinWords: Readonly<Record<Pin, string>> = {
  in_sync: 'as approved',
  drifted: 'changed',
  unpinned: 'not approved',
};

export const pinTones: Readonly<Record<Pin, Tone>> = { in_sync: 'good', drifted: 'bad', unpinned: 'wait' };
