import { createHandle, type Handle } from '@countersign/service-kit';
import type { SessionCaller, WorkspaceCaller } from './guards.ts';

/** Routes that a person calls for no workspace in particular. */
export const handleSession = createHandle<SessionCaller>('session');

const handleMembers = createHandle<WorkspaceCaller>('member', 'partner', 'owner');

/**
 * Routes of one workspace. A session that is due is rotated as late as possible, after everything that could refuse the request: a
 * successor that never reaches its owner would lock the owner out.
 */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  const endpointOf = handleMembers(route, options);
  return (handler) =>
    endpointOf(async (input) => {
      const token = await input.caller.rotateIfDue();
      if (token !== null) input.setHeader('X-New-Token', token);
      return handler(input);
    });
};
