import { createCheckpoint } from '@countersign/contracts/governance-kernel';
import { handleSystem } from '../../handle.ts';
import type { Core } from '../../local/open-core.ts';

export const createCheckpointRoute = ({ checkpoints }: Core) =>
  handleSystem(createCheckpoint)(() => checkpoints.create());
