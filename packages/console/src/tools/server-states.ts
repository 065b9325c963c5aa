import type { McpServer, McpServerTool } from '@countersign/contracts/governance-kernel';
import type { Tone } from '../parts/mark.tsx';

type State = McpServer['state'];

/** The label of each state, and its meaning for calls. Servers that need action come first. */
export const serverStates: Readonly<Record<State, { word: string; tone: Tone; order: number; meaning: string }>> = {
  quarantined: {
    word: 'Quarantined',
    tone: 'wait',
    order: 0,
    meaning: 'Its tools can be seen, and not called, until the server is approved.',
  },
  discovered: {
    word: 'Found',
    tone: 'wait',
    order: 1,
    meaning: 'Its tools could not be listed yet. No call of them is sent.',
  },
  expired: {
    word: 'Expired',
    tone: 'bad',
    order: 2,
    meaning: 'Its approval has ended, so all calls of its tools are denied.',
  },
  approved: {
    word: 'Approved',
    tone: 'good',
    order: 3,
    meaning: 'Calls of tools that are as approved are decided by your rules.',
  },
  revoked: {
    word: 'Revoked',
    tone: 'bad',
    order: 4,
    meaning: 'Every call of its tools is denied until it is approved again.',
  },
};

export const definitionStates: Readonly<Record<McpServerTool['pin'], { word: string; tone: Tone }>> = {
  in_sync: { word: 'As approved', tone: 'plain' },
  drifted: { word: 'Changed', tone: 'bad' },
  unpinned: { word: 'New', tone: 'wait' },
  missing: { word: 'Gone', tone: 'plain' },
};
