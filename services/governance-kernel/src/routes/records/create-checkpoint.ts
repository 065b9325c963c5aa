import { createCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';

export const createCheckpointRoute = ({ checkpoints }: Context) =>
  handleSystem(createCheckpoint)(() => checkpoints.create());
