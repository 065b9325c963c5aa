import { ScimGroup, ScimPatch, ScimUser } from '@countersign/contracts/commercial-gateway';
import type { z } from 'zod';
import { applyOperations, describedAttributes } from './apply-operations.ts';
import type { ResourceDefinition } from './attribute.ts';
import type { Members } from './canonical-value.ts';
import { groupDefinition } from './group-definition.ts';
import { scimRefusal } from './scim-refusal.ts';
import { userDefinition } from './user-definition.ts';

/** Parses the body of POST. Unknown and read-only members are ignored (RFC 7644 §3.3). Throws `invalidValue`. */
export function parseUser(body: unknown): ScimUser {
  return validated(ScimUser, describedAttributes(body, userDefinition));
}

/** Returns a person after PUT. A body without `active` neither ends nor restores access. */
export function replaceUser(before: ScimUser, body: unknown): ScimUser {
  return validated(ScimUser, { active: before.active, ...describedAttributes(body, userDefinition) });
}

/** Returns a person after PATCH. Throws the errors of RFC 7644 §3.5.2. Either all operations apply, or none. */
export function patchUser(before: ScimUser, body: unknown): ScimUser {
  return validated(ScimUser, patched(before, body, userDefinition));
}

export function parseGroup(body: unknown): ScimGroup {
  return validated(ScimGroup, describedAttributes(body, groupDefinition));
}

export function patchGroup(before: ScimGroup, body: unknown): ScimGroup {
  return validated(ScimGroup, patched(before, body, groupDefinition));
}

function patched(before: Members, body: unknown, definition: ResourceDefinition): Members {
  const { Operations } = validated(ScimPatch, body, 'invalidSyntax');
  return applyOperations(before, Operations, definition);
}

function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  fault: 'invalidValue' | 'invalidSyntax' = 'invalidValue',
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw scimRefusal(fault, `\`${path}\`: ${issue?.message ?? 'invalid'}.`, path);
}
