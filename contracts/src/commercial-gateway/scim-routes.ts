import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ScimListQuery } from './scim.ts';

/** The token determines the organisation. No path, query or body names it. */
const common = { auth: 'scim', media: 'scim', forward: { passesBearer: true } } as const;

/**
 * No Idempotency-Key is needed. A repeated POST gets the conflict `uniqueness`. Repeating any other request leaves the
 * same state (RFC 7644 §3.3 to §3.6).
 */
const repeated = { exempt: 'protocol' } as const;

/** One request has at most five thousand members, each with up to four values. */
const groupLimits = { bodyBytesMax: 4_194_304, bodyValuesMax: 50_000 };

/** A resource as SCIM returns it, without the attributes that the request excluded. */
const ScimResource = z.record(z.string(), z.unknown()).refine((resource) => Array.isArray(resource['schemas']));
const ScimBody = z.record(z.string(), z.unknown());

const ScimList = z.strictObject({
  schemas: z.array(z.string()),
  totalResults: z.int().min(0),
  startIndex: z.int().min(1),
  itemsPerPage: z.int().min(0),
  Resources: z.array(ScimResource),
});

const ofResource = z.strictObject({ id: z.string().min(1).max(128) });

/** Parameters that this server does not support are ignored (RFC 7644 §3.4.2). */
const Projection = ScimListQuery.pick({ attributes: true, excludedAttributes: true });
const NoParameters = z.object({});

const conflicts = ['NOT_FOUND', 'ALREADY_EXISTS', 'PRECONDITION_FAILED'] as const;

export const getScimConfig = defineRoute({
  ...common,
  operation: 'get-scim-config',
  summary: 'SCIM 2.0: get the supported features of this server (RFC 7643 §5).',
  method: 'GET',
  path: '/scim/v2/ServiceProviderConfig',
  query: NoParameters,
  reply: ScimResource,
});

export const listScimResourceTypes = defineRoute({
  ...common,
  operation: 'list-scim-resource-types',
  summary: 'SCIM 2.0: list the resource types (RFC 7643 §6).',
  method: 'GET',
  path: '/scim/v2/ResourceTypes',
  query: NoParameters,
  reply: ScimList,
});

export const listScimSchemas = defineRoute({
  ...common,
  operation: 'list-scim-schemas',
  summary: 'SCIM 2.0: list the schemas of the resources (RFC 7643 §7).',
  method: 'GET',
  path: '/scim/v2/Schemas',
  query: NoParameters,
  reply: ScimList,
});

export const listScimUsers = defineRoute({
  ...common,
  operation: 'list-scim-users',
  summary: "SCIM 2.0: list or filter the people of the token's organisation, at most 200 per page.",
  method: 'GET',
  path: '/scim/v2/Users',
  query: ScimListQuery,
  reply: ScimList,
});

export const createScimUser = defineRoute({
  ...common,
  operation: 'create-scim-user',
  summary: 'SCIM 2.0: provision a person. The address must be in a verified domain of the organisation.',
  method: 'POST',
  path: '/scim/v2/Users',
  idempotency: repeated,
  query: Projection,
  status: 201,
  body: ScimBody,
  reply: ScimResource,
  errors: ['ALREADY_EXISTS'],
});

export const getScimUser = defineRoute({
  ...common,
  operation: 'get-scim-user',
  summary: 'SCIM 2.0: get a person, with an ETag.',
  method: 'GET',
  path: '/scim/v2/Users/{id}',
  params: ofResource,
  query: Projection,
  alsoStatus: [304],
  reply: ScimResource,
  errors: ['NOT_FOUND'],
});

export const putScimUser = defineRoute({
  ...common,
  operation: 'put-scim-user',
  summary: 'SCIM 2.0: replace the attributes of a person. `active: false` ends their access.',
  method: 'PUT',
  path: '/scim/v2/Users/{id}',
  idempotency: repeated,
  params: ofResource,
  query: Projection,
  body: ScimBody,
  reply: ScimResource,
  errors: [...conflicts, 'LAST_OWNER'],
});

export const patchScimUser = defineRoute({
  ...common,
  operation: 'patch-scim-user',
  summary: 'SCIM 2.0: change attributes of a person. `active: false` ends their access.',
  method: 'PATCH',
  path: '/scim/v2/Users/{id}',
  idempotency: repeated,
  params: ofResource,
  query: Projection,
  body: ScimBody,
  reply: ScimResource,
  errors: [...conflicts, 'LAST_OWNER'],
});

export const deleteScimUser = defineRoute({
  ...common,
  operation: 'delete-scim-user',
  summary: 'SCIM 2.0: end the access of a person and delete the resource. The person and their history are kept.',
  method: 'DELETE',
  path: '/scim/v2/Users/{id}',
  idempotency: repeated,
  params: ofResource,
  query: NoParameters,
  status: 204,
  reply: z.undefined(),
  errors: ['NOT_FOUND', 'PRECONDITION_FAILED', 'LAST_OWNER'],
});

export const listScimGroups = defineRoute({
  ...common,
  operation: 'list-scim-groups',
  summary:
    "SCIM 2.0: list or filter the groups of the token's organisation, at most 200 per page. Pages with members " +
    'may be shorter.',
  method: 'GET',
  path: '/scim/v2/Groups',
  query: ScimListQuery,
  reply: ScimList,
});

export const createScimGroup = defineRoute({
  ...common,
  ...groupLimits,
  operation: 'create-scim-group',
  summary: 'SCIM 2.0: provision a group. Role mappings of the organisation give its members a role.',
  method: 'POST',
  path: '/scim/v2/Groups',
  idempotency: repeated,
  query: Projection,
  status: 201,
  body: ScimBody,
  reply: ScimResource,
  errors: ['ALREADY_EXISTS'],
});

export const getScimGroup = defineRoute({
  ...common,
  operation: 'get-scim-group',
  summary: 'SCIM 2.0: get a group, with an ETag.',
  method: 'GET',
  path: '/scim/v2/Groups/{id}',
  params: ofResource,
  query: Projection,
  alsoStatus: [304],
  reply: ScimResource,
  errors: ['NOT_FOUND'],
});

export const putScimGroup = defineRoute({
  ...common,
  ...groupLimits,
  operation: 'put-scim-group',
  summary: 'SCIM 2.0: replace the name and the members of a group.',
  method: 'PUT',
  path: '/scim/v2/Groups/{id}',
  idempotency: repeated,
  params: ofResource,
  query: Projection,
  body: ScimBody,
  reply: ScimResource,
  errors: [...conflicts],
});

export const patchScimGroup = defineRoute({
  ...common,
  ...groupLimits,
  operation: 'patch-scim-group',
  summary: 'SCIM 2.0: change the name or the members of a group.',
  method: 'PATCH',
  path: '/scim/v2/Groups/{id}',
  idempotency: repeated,
  params: ofResource,
  query: Projection,
  body: ScimBody,
  reply: ScimResource,
  errors: [...conflicts],
});

export const deleteScimGroup = defineRoute({
  ...common,
  operation: 'delete-scim-group',
  summary: 'SCIM 2.0: delete a group. Its members lose the role that it gave.',
  method: 'DELETE',
  path: '/scim/v2/Groups/{id}',
  idempotency: repeated,
  params: ofResource,
  query: NoParameters,
  status: 204,
  reply: z.undefined(),
  errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
});
