import { createCheckpoint } from '@countersign/contracts/governance-kernel';
import type { Kernel } from '../context.ts';
import { handleSystem } from '../handle.ts';

export const createCheckpointRoute = ({ checkpointer }: Kernel) =>
  handleSystem(createCheckpoint)(() => checkpointer.create());
