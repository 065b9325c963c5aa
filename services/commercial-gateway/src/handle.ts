import { scimError } from '@countersign/contracts/commercial-gateway';
import { createHandle, type Handle } from '@countersign/service-kit';
import type { BasicCaller, PersonCaller, SiblingCaller, WorkspaceCaller } from './guards.ts';
import type { ScimCaller } from './provisioning/scim-caller.ts';

/** Routes of a person who is signed in. */
export const handlePerson = createHandle<PersonCaller>('session');

/** Routes of the basic API. */
export const handleBasic = createHandle<BasicCaller>('commercial');

const handlePlaced = createHandle<WorkspaceCaller>('commercial');

/** Routes of the basic API that address one workspace: the guard compares the role of each caller. */
export const handleWorkspace: Handle<WorkspaceCaller> = (route, options) => {
  if (route.leastRole === undefined) throw new Error(`${route.operation} states no leastRole`);
  return handlePlaced(route, options);
};

/** Routes of people who administer the installation. */
export const handleAdmin = createHandle<PersonCaller>('commercial_admin');

/** Routes of identity providers. Errors have the form of SCIM. */
export const handleScim: Handle<ScimCaller> = (route) =>
  createHandle<ScimCaller>('scim')(route, { renderError: scimError });

/** Routes of sibling services. */
export const handleSibling = createHandle<SiblingCaller>('service_internal');
