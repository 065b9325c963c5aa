import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { PlainObject } from '../scalars.ts';

/*
 * AuthZEN Authorization API 1.0. The specification requires that unknown members are ignored here. Names are any text:
 * a name that no tuple can contain has no relations.
 */
const TenantQuery = z.strictObject({ tenant_id: z.string().optional() });
const Name = z.string().min(1).max(512);
const Properties = PlainObject.default({});
const Context = PlainObject.default({});

const AccessEntity = z.object({ type: Name, id: Name, properties: Properties });
const AccessAction = z.object({ name: Name, properties: Properties });
/** An entity of the searched type. */
const SoughtEntity = z.object({ type: Name });

export const AccessRequest = z.object({
  subject: AccessEntity,
  action: AccessAction,
  resource: AccessEntity,
  context: Context,
});
export type AccessRequest = z.infer<typeof AccessRequest>;

/** `context.reason_code`: why no evaluation was possible. `context.error`: the missing members of a batch item. */
export const AccessDecision = z.strictObject({
  decision: z.boolean(),
  context: z.record(z.string(), z.json()).optional(),
});
export type AccessDecision = z.infer<typeof AccessDecision>;

/** The most evaluations of one request. They take a fraction of a second. */
const evaluationsMax = 200;

export const AccessBatch = z.object({
  subject: z.unknown().optional(),
  action: z.unknown().optional(),
  resource: z.unknown().optional(),
  context: z.unknown().optional(),
  /** Each item is an access request. Missing members are taken from the batch. */
  evaluations: z.array(z.unknown()).max(evaluationsMax).default([]),
  options: z
    .object({
      evaluations_semantic: z
        .enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'])
        .default('execute_all'),
    })
    .prefault({}),
});
export type AccessBatch = z.infer<typeof AccessBatch>;

/** The largest page. A higher number is reduced to it. */
const pageMax = 1_000;
const PageLimit = z
  .int()
  .min(0)
  .transform((limit) => Math.min(limit, pageMax));
const PageRequest = z.object({ limit: PageLimit.default(100), token: z.string().max(1_024).default('') }).prefault({});
/** An empty token marks the last page. A page may be short or empty although another one follows. */
const PageReply = z.strictObject({ next_token: z.string() });

const EntityResults = z.strictObject({
  results: z.array(z.strictObject({ type: z.string(), id: z.string() })),
  page: PageReply,
});

const SubjectSearch = AccessRequest.extend({ subject: SoughtEntity, page: PageRequest });
const ResourceSearch = AccessRequest.extend({ resource: SoughtEntity, page: PageRequest });
const ActionSearch = AccessRequest.omit({ action: true }).extend({ page: PageRequest });

const evaluationRoute = {
  method: 'POST',
  auth: 'tenant_scoped',
  door: 'authzen',
  media: 'authzen',
  idempotency: { exempt: 'reads' },
  query: TenantQuery,
} as const;

export const evaluateAccess = defineRoute({
  ...evaluationRoute,
  operation: 'evaluate-access',
  summary:
    'AuthZEN: decide whether the subject may perform the action on the resource, by permission model and relations.',
  path: '/access/v1/evaluation',
  body: AccessRequest,
  reply: AccessDecision,
});

export const evaluateAccesses = defineRoute({
  ...evaluationRoute,
  operation: 'evaluate-accesses',
  summary:
    'AuthZEN: evaluate a batch in order, on one snapshot. Invalid items return false. A request without items is ' +
    'evaluated as a single request.',
  path: '/access/v1/evaluations',
  body: AccessBatch,
  reply: z.union([AccessDecision, z.strictObject({ evaluations: z.array(AccessDecision) })]),
});

export const searchSubjects = defineRoute({
  ...evaluationRoute,
  operation: 'search-subjects',
  summary:
    'AuthZEN: list the subjects of a type that may perform the action on the resource. Only subjects in tuples or ' +
    'stored entities are found.',
  path: '/access/v1/search/subject',
  body: SubjectSearch,
  reply: EntityResults,
});

export const searchResources = defineRoute({
  ...evaluationRoute,
  operation: 'search-resources',
  summary: 'AuthZEN: list the resources of a type on which the subject may perform the action.',
  path: '/access/v1/search/resource',
  body: ResourceSearch,
  reply: EntityResults,
});

export const searchActions = defineRoute({
  ...evaluationRoute,
  operation: 'search-actions',
  summary:
    'AuthZEN: list the actions that the subject may perform on the resource, evaluated without action properties.',
  path: '/access/v1/search/action',
  body: ActionSearch,
  reply: z.strictObject({ results: z.array(z.strictObject({ name: z.string() })), page: PageReply }),
});

export const getAuthzenConfiguration = defineRoute({
  operation: 'get-authzen-configuration',
  summary: 'AuthZEN: get the addresses of the endpoints, below `GOV_PUBLIC_URL`.',
  method: 'GET',
  path: '/.well-known/authzen-configuration',
  auth: 'public',
  reply: z.strictObject({
    policy_decision_point: z.string(),
    access_evaluation_endpoint: z.string(),
    access_evaluations_endpoint: z.string(),
    search_subject_endpoint: z.string(),
    search_resource_endpoint: z.string(),
    search_action_endpoint: z.string(),
  }),
});
