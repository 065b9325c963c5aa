import { scimLimits, type ScimPatch } from '@countersign/contracts/commercial-gateway';
import { AppError } from '@countersign/contracts';
import type { Attribute, ResourceDefinition } from './attribute.ts';
import { isMembers, type Change, type Members, type OnUnknown } from './canonical-value.ts';
import { changedAttribute } from './change-attribute.ts';
import { withIdentities, withLists } from './identity-values.ts';
import { parsePath, type Target } from './patch-path.ts';
import { scimRefusal } from './scim-refusal.ts';

type Operation = ScimPatch['Operations'][number];

/**
 * Returns the attributes after all operations, in their order (RFC 7644 §3.5.2). Member names always come from the
 * schema, never from the request.
 */
export function applyOperations(
  before: Members,
  operations: readonly Operation[],
  definition: ResourceDefinition,
): Members {
  boundValues(operations);
  const after = operations.reduce<Members>(
    (current, operation) => {
      const { op, path, value } = operation;
      if (path !== undefined) {
        const target = parsePath(path, definition);
        if (target === null) throw unknownPath(path, definition);
        if (op !== 'remove' && value === undefined)
          throw scimRefusal('invalidValue', `The operation on \`${path}\` has no value.`, path);
        return changed(current, target, { op, value, path, onUnknown: 'refuse' }, definition);
      }
      if (op === 'remove') throw scimRefusal('noTarget', 'A remove operation must have a path.');
      return applyMembers(current, { op, value, onUnknown: 'refuse' }, definition);
    },
    withIdentities(before, definition),
  );
  return withLists(after);
}

/** Returns the attributes in a body of POST or PUT. Members outside the schema are ignored. */
export function describedAttributes(body: unknown, definition: ResourceDefinition): Members {
  boundValues([{ value: body }]);
  return withLists(applyMembers({}, { op: 'add', value: body, onUnknown: 'ignore' }, definition));
}

type MemberChange = Omit<Change, 'path'>;

/**
 * Sets each member of an object. Member names are paths. Changes of read-only members are ignored, because Okta sends
 * `id` with each new name.
 */
function applyMembers(
  before: Members,
  { op, value, onUnknown }: MemberChange,
  definition: ResourceDefinition,
): Members {
  if (!isMembers(value))
    throw scimRefusal('invalidValue', 'The value of an operation without a path must be an object.');
  return Object.entries(value).reduce<Members>((current, [path, member]) => {
    const target = pathOfMember(path, { definition, onUnknown });
    if (target === null || target.attribute?.mutability === 'readOnly') return current;
    return changed(current, target, { op, value: member, path, onUnknown }, definition);
  }, before);
}

function pathOfMember(
  path: string,
  { definition, onUnknown }: { definition: ResourceDefinition; onUnknown: OnUnknown },
) {
  const isName = path.length <= scimLimits.pathLength && !/[[\]]/.test(path);
  const target = isName ? parsePath(path, definition) : null;
  if (target === null && onUnknown === 'refuse') throw unknownPath(path, definition);
  return target;
}

function changed(current: Members, target: Target, change: Change, definition: ResourceDefinition): Members {
  const { extension, attribute } = target;
  if (attribute === null) return changedSchema(current, { extension, change, definition });
  if (extension === null) return set(current, { ...target, attribute }, change);
  const inner = current[extension];
  const after = set(isMembers(inner) ? inner : {}, { ...target, attribute }, change);
  return withMember(current, extension, Object.keys(after).length === 0 ? undefined : after);
}

type SchemaChange = { extension: string | null; change: Change; definition: ResourceDefinition };

/** Changes all attributes of the schema whose URI is the path. */
function changedSchema(current: Members, { extension, change, definition }: SchemaChange): Members {
  const { op, value, path } = change;
  if (op === 'remove' || value === null) {
    if (extension === null)
      throw scimRefusal('invalidPath', `\`${path}\` is the URI of a schema. Add the name of an attribute.`, path);
    return withMember(current, extension, undefined);
  }
  if (!isMembers(value)) throw scimRefusal('invalidValue', `\`${path}\` must be an object.`, path);
  const qualified = Object.entries(value).map(([name, member]) => [`${path}:${name}`, member]);
  return applyMembers(current, { ...change, value: Object.fromEntries(qualified) }, definition);
}

function set(members: Members, target: Target & { attribute: Attribute }, change: Change): Members {
  const { attribute, filter, sub } = target;
  return withMember(
    members,
    attribute.name,
    changedAttribute(members[attribute.name], { attribute, filter, sub }, change),
  );
}

function withMember(members: Members, name: string, value: unknown): Members {
  const { [name]: _before, ...others } = members;
  return value === undefined ? others : { ...others, [name]: value };
}

function boundValues(operations: readonly Pick<Operation, 'value'>[]): void {
  const count = operations.reduce((sum, { value }) => sum + valuesIn(value), 0);
  if (count > scimLimits.membersPerRequest)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The request has ${count} values (limit ${scimLimits.membersPerRequest}). Send them in several requests.`,
    );
}

/** Counts the values of a list, and of the lists in an object. */
function valuesIn(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isMembers(value) ? Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 0) : 1;
}

function unknownPath(path: string, { name }: ResourceDefinition) {
  return scimRefusal('invalidPath', `\`${path}\` is not an attribute of ${name}.`, path);
}
