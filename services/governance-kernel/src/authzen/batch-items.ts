import { AccessRequest, type AccessBatch, type AccessDecision } from '@countersign/contracts/governance-kernel';

/** An item that can be answered, or what it lacks. */
export type Item = { readonly request: AccessRequest } | { readonly refused: AccessDecision };

/**
 * What an item names replaces the whole of what stands above it, properties included; only what identifies it (type and id, or the name) is
 * taken from there where the item lacks it.
 */
export function itemOf(defaults: AccessBatch, item: unknown): Item {
  if (!isMembers(item)) return refusal('it is no object');
  const own = item;
  const merged = {
    subject: entityOf(own['subject'], defaults.subject, ['type', 'id']),
    action: entityOf(own['action'], defaults.action, ['name']),
    resource: entityOf(own['resource'], defaults.resource, ['type', 'id']),
    context: own['context'] ?? defaults.context,
  };
  const parsed = AccessRequest.safeParse(merged);
  if (parsed.success) return { request: parsed.data };
  const [issue] = parsed.error.issues;
  const message = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is malformed'}`.slice(0, 256);
  return refusal(message);
}

function refusal(message: string): Item {
  return { refused: { decision: false, context: { error: { status: 400, message } } } };
}

function entityOf(own: unknown, above: unknown, identifying: readonly string[]): unknown {
  if (own === undefined) return above;
  if (!isMembers(own)) return own;
  const inherited = isMembers(above) ? identifying.filter((name) => Object.hasOwn(above, name)) : [];
  return { ...Object.fromEntries(inherited.map((name) => [name, membersOf(above)[name]])), ...own };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
