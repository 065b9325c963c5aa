import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { PlainObject } from '../scalars.ts';

/*
 * AuthZEN Authorization API 1.0. Unlike everywhere else unknown members are ignored, since the specification asks for it, and names are
 * whatever the caller has: one that no tuple could hold has no relations.
 */
const TenantQuery = z.strictObject({ tenant_id: z.string().optional() });
const Name = z.string().min(1).max(512);
const Properties = PlainObject.default({});
const Context = PlainObject.default({});

const AccessEntity = z.object({ type: Name, id: Name, properties: Properties });
const AccessAction = z.object({ name: Name, properties: Properties });
/** An entity of the kind that is sought. */
const SoughtEntity = z.object({ type: Name });

export const AccessRequest = z.object({
  subject: AccessEntity,
  action: AccessAction,
  resource: AccessEntity,
  context: Context,
});
export type AccessRequest = z.infer<typeof AccessRequest>;

/** `context.reason_code` says why there was nothing to judge by, `context.error` what an item of a batch lacks. */
export const AccessDecision = z.strictObject({
  decision: z.boolean(),
  context: z.record(z.string(), z.json()).optional(),
});
export type AccessDecision = z.infer<typeof AccessDecision>;

/** One request: as many as are judged in a fraction of a second. */
const evaluationsMax = 200;

export const AccessBatch = z.object({
  subject: z.unknown().optional(),
  action: z.unknown().optional(),
  resource: z.unknown().optional(),
  context: z.unknown().optional(),
  /** Each is an access request, with what it lacks taken from above. */
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

/** A caller may ask for any number, and gets as many at most. */
const pageMax = 1_000;
const PageLimit = z
  .int()
  .min(0)
  .transform((limit) => Math.min(limit, pageMax));
const PageRequest = z.object({ limit: PageLimit.default(100), token: z.string().max(1_024).default('') }).prefault({});
/** An empty token: that was all. A page may be short, or empty, and have another one behind it. */
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
    'AuthZEN: whether the subject may do this with the resource, by the permission model and the relations of the tenant.',
  path: '/access/v1/evaluation',
  body: AccessRequest,
  reply: AccessDecision,
});

export const evaluateAccesses = defineRoute({
  ...evaluationRoute,
  operation: 'evaluate-accesses',
  summary:
    'AuthZEN: several of these at once, of one snapshot and in their order. An item that cannot be judged is a no; without items it is one.',
  path: '/access/v1/evaluations',
  body: AccessBatch,
  reply: z.union([AccessDecision, z.strictObject({ evaluations: z.array(AccessDecision) })]),
});

export const searchSubjects = defineRoute({
  ...evaluationRoute,
  operation: 'search-subjects',
  summary:
    'AuthZEN: the subjects of a type that may do this with the resource, among those that a tuple or a batch has named.',
  path: '/access/v1/search/subject',
  body: SubjectSearch,
  reply: EntityResults,
});

export const searchResources = defineRoute({
  ...evaluationRoute,
  operation: 'search-resources',
  summary: 'AuthZEN: with which resources of a type may the subject do this?',
  path: '/access/v1/search/resource',
  body: ResourceSearch,
  reply: EntityResults,
});

export const searchActions = defineRoute({
  ...evaluationRoute,
  operation: 'search-actions',
  summary: 'AuthZEN: what may the subject do with the resource, where the action has no properties?',
  path: '/access/v1/search/action',
  body: ActionSearch,
  reply: z.strictObject({ results: z.array(z.strictObject({ name: z.string() })), page: PageReply }),
});

export const getAuthzenConfiguration = defineRoute({
  operation: 'get-authzen-configuration',
  summary: 'AuthZEN: where the endpoints are, below `GOV_PUBLIC_URL`.',
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
