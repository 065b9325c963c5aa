import * as contract from '@countersign/contracts/commercial-gateway';
import { createEnvironment, environmentView } from '../../basic/create-environment.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createEnvironmentRoute = (context: Context) =>
  handleWorkspace(contract.createEnvironment)(async ({ body, caller, requestId }) =>
    environmentView(await createEnvironment(context, body, { caller, requestId })),
  );
