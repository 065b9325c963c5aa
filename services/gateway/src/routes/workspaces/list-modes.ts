import { listModes } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import { modes } from '../../workspaces/modes.ts';

export const listModesRoute = () => handlePublic(listModes)(() => ({ modes: [...modes] }));
