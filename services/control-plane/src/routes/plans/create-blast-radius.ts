import { createBlastRadius } from '@countersign/contracts/control-plane';
import { workOutRadius } from '../../blast-radius/work-out-radius.ts';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';

export const createBlastRadiusRoute = (context: Context) =>
  handleKeyed(createBlastRadius)(({ body, caller }) => workOutRadius(context, body.steps, caller));
