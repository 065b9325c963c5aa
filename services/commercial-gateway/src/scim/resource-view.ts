import { scimLimits, type ScimGroup, type ScimUser } from '@countersign/contracts/commercial-gateway';
import { commonAttributes, type ResourceDefinition } from './attribute.ts';
import { isMembers, type Members } from './canonical-value.ts';
import { groupDefinition } from './group-definition.ts';
import { weakTag } from './resource-version.ts';
import { withoutSchema } from './schema-prefix.ts';
import { scimRefusal } from './scim-refusal.ts';
import { userDefinition } from './user-definition.ts';

type Stored<Resource> = {
  readonly id: string;
  readonly attributes: Resource;
  readonly version: number;
  readonly createdAt: string;
  readonly changedAt: string;
};

/** The requested members, by the query parameters `attributes` and `excludedAttributes`. */
export type Projection = { readonly attributes?: string | undefined; readonly excludedAttributes?: string | undefined };

type Group = { readonly value: string; readonly display: string };

/** Returns a person as a SCIM resource. `baseUrl` is the URL without `/Users`. */
export function userView(
  user: Stored<ScimUser> & { groups: readonly Group[] },
  baseUrl: string,
  projection: Projection,
) {
  const { groups, attributes } = user;
  const withGroups = groups.length === 0 ? attributes : { ...attributes, groups };
  return view({ ...user, attributes: withGroups }, { definition: userDefinition, baseUrl, projection });
}

export function groupView(group: Stored<ScimGroup>, baseUrl: string, projection: Projection) {
  return view(group, { definition: groupDefinition, baseUrl, projection });
}

/** Returns whether the projection omits the members of a group, so that they need not be read. */
export function leavesOutMembers({ attributes, excludedAttributes }: Projection): boolean {
  const members = (list: string) => pathsOf(list, groupDefinition).some(([first]) => first === 'members');
  if (attributes !== undefined) return pathsOf(attributes, groupDefinition).length > 0 && !members(attributes);
  return excludedAttributes !== undefined && belowOf(pathsOf(excludedAttributes, groupDefinition), 'members') === null;
}

type Viewing = { definition: ResourceDefinition; baseUrl: string; projection: Projection };

function view(stored: Stored<Members>, { definition, baseUrl, projection }: Viewing): Members {
  const { id, attributes, version, createdAt, changedAt } = stored;
  const extensions = definition.extensions.map((extension) => extension.id).filter((urn) => urn in attributes);
  const whole = {
    schemas: [definition.schema.id, ...extensions],
    id,
    ...attributes,
    meta: {
      resourceType: definition.name,
      created: createdAt,
      lastModified: changedAt,
      location: `${baseUrl}${definition.endpoint}/${id}`,
      version: weakTag(version),
    },
  };
  return projected(whole, { definition, projection });
}

const always = new Set(commonAttributes.filter(({ returned }) => returned === 'always').map(({ name }) => name));

/**
 * Returns the requested members. Throws `invalidValue` when `attributes` and `excludedAttributes` are both present (RFC
 * 7644 §3.9). Unknown names select nothing.
 */
function projected(whole: Members, { definition, projection }: Omit<Viewing, 'baseUrl'>): Members {
  const { attributes, excludedAttributes } = projection;
  if (attributes !== undefined && excludedAttributes !== undefined)
    throw scimRefusal('invalidValue', 'Send attributes or excludedAttributes, not both.', 'attributes');
  const isExcluding = attributes === undefined;
  const paths = pathsOf(attributes ?? excludedAttributes, definition);
  if (paths.length === 0) return whole;
  return Object.fromEntries(
    Object.entries(whole).flatMap<[string, unknown]>(([name, value]) => {
      if (always.has(name)) return [[name, value]];
      const kept = selected(value, { below: belowOf(paths, name), isExcluding });
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

/** Returns the paths below an attribute. `null` when a path names the whole attribute. */
function belowOf(paths: readonly string[][], name: string): string[][] | null {
  const own = paths.filter(([first]) => first === name.toLowerCase()).map(([, ...rest]) => rest);
  return own.some((rest) => rest.length === 0) ? null : own;
}

type Selection = { below: string[][] | null; isExcluding: boolean };

function selected(value: unknown, { below, isExcluding }: Selection): unknown {
  if (below === null) return isExcluding ? undefined : value;
  if (below.length === 0) return isExcluding ? value : undefined;
  if (Array.isArray(value)) return value.map((element: unknown) => selected(element, { below, isExcluding }));
  if (!isMembers(value)) return isExcluding ? value : undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap<[string, unknown]>(([name, member]) => {
      const kept = selected(member, { below: belowOf(below, name), isExcluding });
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

/** Splits paths at their dots, in lower case. The URI of an extension is one step. */
function pathsOf(list: string | undefined, { schema, extensions }: ResourceDefinition): string[][] {
  const paths = (list ?? '').split(',').map((path) => path.trim());
  if (paths.length > scimLimits.projectedPaths)
    throw scimRefusal(
      'invalidValue',
      `The request names more than ${scimLimits.projectedPaths} attributes. Name fewer.`,
      'attributes',
    );
  return paths.filter(Boolean).map((path) => {
    const { schema: owner, rest } = withoutSchema(path, [schema.id, ...extensions.map(({ id }) => id)]);
    const steps = rest === '' ? [] : rest.toLowerCase().split('.');
    return owner === null || owner === schema.id ? steps : [owner.toLowerCase(), ...steps];
  });
}
