import { AccessRequest, type AccessBatch, type AccessDecision } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';

/** An item that can be answered, or its fault. */
export type Item = { readonly request: AccessRequest } | { readonly refused: AccessDecision };

/** The items in order. The defaults are parsed once for all items that use them. */
export function itemsOf(defaults: AccessBatch, items: readonly unknown[]): Item[] {
  const above = new Map<unknown, Parsed>();
  return items.map((item) => itemOf(defaults, item, above));
}

type Parsed = ReturnType<(typeof AccessRequest.shape)[Member]['safeParse']>;
type Member = 'subject' | 'action' | 'resource' | 'context';

/**
 * A member that an item states replaces the default of the batch as a whole, including the default's properties. If the
 * stated member lacks its identity (type and id, or name), only the identity comes from the default.
 */
function itemOf(defaults: AccessBatch, item: unknown, above: Map<unknown, Parsed>): Item {
  if (!isMembers(item)) return refusal('The item is not an object');
  const own = item;
  const merged = {
    subject: entityOf(own['subject'], defaults.subject, ['type', 'id']),
    action: entityOf(own['action'], defaults.action, ['name']),
    resource: entityOf(own['resource'], defaults.resource, ['type', 'id']),
    context: own['context'] ?? defaults.context,
  };
  const request: Record<string, unknown> = {};
  for (const member of members) {
    const input = merged[member];
    const parsed = above.get(input) ?? AccessRequest.shape[member].safeParse(input);
    if (typeof input === 'object' && input === defaults[member]) above.set(input, parsed);
    if (!parsed.success) return refusalOf(member, parsed.error);
    request[member] = parsed.data;
  }
  return { request: request as AccessRequest }; // each member was parsed by its schema
}

const members = ['subject', 'action', 'resource', 'context'] as const;

function refusalOf(member: Member, { issues: [issue] }: z.ZodError): Item {
  const path = [member, ...(issue?.path ?? [])].join('.');
  return refusal(`${path}: ${issue?.message ?? 'is malformed'}`.slice(0, 256));
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
