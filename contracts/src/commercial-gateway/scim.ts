import { z } from 'zod';

export const scimSchemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  enterpriseUser: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  serviceProviderConfig: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  listResponse: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const;

export const scimLimits = {
  /** Entra sends one operation for each member of a group, and up to some hundred operations in one request. */
  patchOperations: 500,
  /** The longest path of Entra is a qualified attribute with a filter on an address of 254 characters. */
  pathLength: 512,
  filterLength: 1_024,
  /** How deep brackets and `not` may be nested in a filter. */
  filterDepth: 16,
  /** The most comparisons in the filter of a path. */
  pathTerms: 8,
  /** The most values that an attribute may have when a path filters it. The filter `value eq "…"` has no such limit. */
  filteredValues: 1_000,
  /** How many comparisons with members of a group one request may cause. Operations on `value` alone cause none. */
  valuesRead: 30_000,
  /** The most values in one request, over all of its operations. */
  membersPerRequest: 5_000,
  membersPerGroup: 10_000,
  /** The most values of each of `emails`, `phoneNumbers`, `addresses` and `roles`. */
  values: 20,
  page: 200,
  pageDefault: 100,
  /** The most paths in `attributes` or `excludedAttributes`. */
  projectedPaths: 50,
} as const;

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes('\u0000'), 'must not contain NUL');
const Text = text(1_024);
const Identifier = text(256);
const valueMembers = { type: text(64).optional(), primary: z.boolean().optional(), display: Text.optional() };

/** At most one value is the primary one (RFC 7643 §2.4). */
function values<Value extends z.ZodType<{ primary?: boolean | undefined }>>(value: Value) {
  return z
    .array(value)
    .max(scimLimits.values)
    .refine((all) => all.filter(({ primary }) => primary === true).length <= 1, 'must have one primary value at most');
}

const EnterpriseUser = z.strictObject({
  employeeNumber: Identifier.optional(),
  costCenter: Identifier.optional(),
  organization: Identifier.optional(),
  division: Identifier.optional(),
  department: Identifier.optional(),
  manager: z
    .strictObject({ value: Identifier.optional(), $ref: Text.optional(), displayName: Text.optional() })
    .optional(),
});

/** The attributes of a person that an identity provider sets, under the names of RFC 7643. */
export const ScimUser = z.strictObject({
  externalId: Identifier.optional(),
  userName: text(254),
  name: z
    .strictObject({
      formatted: Text.optional(),
      familyName: Identifier.optional(),
      givenName: Identifier.optional(),
      middleName: Identifier.optional(),
      honorificPrefix: Identifier.optional(),
      honorificSuffix: Identifier.optional(),
    })
    .optional(),
  displayName: Identifier.optional(),
  nickName: Identifier.optional(),
  profileUrl: Text.optional(),
  title: Identifier.optional(),
  userType: Identifier.optional(),
  preferredLanguage: text(64).optional(),
  locale: text(64).optional(),
  timezone: text(64).optional(),
  active: z.boolean().default(true),
  emails: values(z.strictObject({ value: text(254), ...valueMembers })).optional(),
  phoneNumbers: values(z.strictObject({ value: Identifier, ...valueMembers })).optional(),
  addresses: values(
    z.strictObject({
      formatted: Text.optional(),
      streetAddress: Text.optional(),
      locality: Identifier.optional(),
      region: Identifier.optional(),
      postalCode: text(64).optional(),
      country: text(64).optional(),
      type: text(64).optional(),
      primary: z.boolean().optional(),
    }),
  ).optional(),
  roles: values(z.strictObject({ value: Identifier, ...valueMembers })).optional(),
  [scimSchemas.enterpriseUser]: EnterpriseUser.optional(),
});
export type ScimUser = z.infer<typeof ScimUser>;

/** Members are people. A member that is named twice is one member. */
export const ScimGroup = z.strictObject({
  externalId: Identifier.optional(),
  displayName: Identifier,
  members: z
    .array(
      z.strictObject({
        value: Identifier,
        $ref: Text.optional(),
        display: Text.optional(),
        type: z.literal('User').optional(),
      }),
    )
    .max(scimLimits.membersPerGroup)
    .optional(),
});
export type ScimGroup = z.infer<typeof ScimGroup>;

/** A body of PATCH. Entra writes `Replace`; paths and values are resolved against the schema of the resource. */
export const ScimPatch = z.strictObject({
  schemas: z
    .array(z.string().max(256))
    .max(8)
    .refine((urns) => urns.includes(scimSchemas.patch), `must include ${scimSchemas.patch}`),
  Operations: z
    .array(
      z.strictObject({
        op: z
          .string()
          .max(16)
          .toLowerCase()
          .pipe(z.enum(['add', 'remove', 'replace'])),
        path: z.string().min(1).max(scimLimits.pathLength).optional(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(scimLimits.patchOperations),
});
export type ScimPatch = z.infer<typeof ScimPatch>;

const wholeNumber = z.coerce.number().int();

/**
 * Numbers outside the range become its nearest end (RFC 7644 §3.4.2.4). Parameters that this server does not support,
 * such as `sortBy`, are ignored.
 */
export const ScimListQuery = z.object({
  startIndex: wholeNumber.default(1).transform((value) => Math.min(Math.max(value, 1), 2_147_483_647)),
  count: wholeNumber
    .default(scimLimits.pageDefault)
    .transform((value) => Math.min(Math.max(value, 0), scimLimits.page)),
  filter: z.string().min(1).max(scimLimits.filterLength).optional(),
  attributes: z.string().max(4_096).optional(),
  excludedAttributes: z.string().max(4_096).optional(),
});
export type ScimListQuery = z.infer<typeof ScimListQuery>;

/** Keywords of RFC 7644 §3.12 that this server uses. */
export const ScimErrorType = z.enum([
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
]);
export type ScimErrorType = z.infer<typeof ScimErrorType>;

export const ScimError = z.strictObject({
  schemas: z.tuple([z.literal(scimSchemas.error)]),
  /** The status is a string in RFC 7644 §3.12. */
  status: z.string().regex(/^[45]\d\d$/),
  scimType: ScimErrorType.optional(),
  detail: z.string(),
});
export type ScimError = z.infer<typeof ScimError>;
