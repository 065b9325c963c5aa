import { scimError } from '@countersign/contracts/commercial-gateway';
import { createHandle, type Handle } from '@countersign/service-kit';
import type { BasicCaller, PersonCaller, SiblingCaller, WorkspaceCaller } from './guards.ts';
import type { ScimCaller } from './provisioning/scim-caller.ts';

/** Routes of signed-in people. */
export const handlePerson = createHandle<PersonCaller>('session');

/** Routes of the basic API. */
export const handleBasic = createHandle<BasicCaller>('commercial');

const handlePlaced = createHandle<WorkspaceCaller>('commercial');

/** Routes of the basic API that address one workspace. The guard checks the role of the caller. */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  if (route.leastRole === undefined) throw new Error(`${route.operation} has no leastRole`);
  return handlePlaced(route, options);
};

/** Routes of installation administrators. */
export const handleAdmin = createHandle<PersonCaller>('commercial_admin');

/** Routes of identity providers. Errors have the form of SCIM. */
export const handleScim: Handle<ScimCaller> = (route) =>
  createHandle<ScimCaller>('scim')(route, { renderError: scimError });

/** Routes of sibling services. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
