import type { WorkspaceMode } from '@countersign/contracts/gateway';

type ModeDescription = { id: WorkspaceMode; label: string; description: string; order: number };

export const modes: readonly ModeDescription[] = [
  { id: 'discover', label: 'Discover', description: 'Find the problem: research, interviews, evidence.', order: 1 },
  { id: 'decide', label: 'Decide', description: 'Weigh the options and commit to one.', order: 2 },
  { id: 'build', label: 'Build', description: 'Make the thing that was decided.', order: 3 },
  { id: 'launch', label: 'Launch', description: 'Bring it to its first users.', order: 4 },
  { id: 'apply', label: 'Apply', description: 'Present it to programmes, partners and funders.', order: 5 },
];
