import { AccessRequest, type AccessBatch, type AccessDecision } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';

/** An item that can be answered, or what it lacks. */
export type Item = { readonly request: AccessRequest } | { readonly refused: AccessDecision };

/** In their order. The defaults are parsed once for all items that use them. */
export function itemsOf(defaults: AccessBatch, items: readonly unknown[]): Item[] {
  const above = new Map<unknown, Parsed>();
  return items.map((item) => itemOf(defaults, item, above));
}

type Parsed = ReturnType<(typeof AccessRequest.shape)[Part]['safeParse']>;
type Part = 'subject' | 'action' | 'resource' | 'context';

/**
 * A member of an item replaces the whole default, properties included. Only its identity (type and id, or the name) is
 * taken from the default where the item lacks it.
 */
function itemOf(defaults: AccessBatch, item: unknown, above: Map<unknown, Parsed>): Item {
  if (!isMembers(item)) return refusal('it is no object');
  const own = item;
  const merged = {
    subject: entityOf(own['subject'], defaults.subject, ['type', 'id']),
    action: entityOf(own['action'], defaults.action, ['name']),
    resource: entityOf(own['resource'], defaults.resource, ['type', 'id']),
    context: own['context'] ?? defaults.context,
  };
  const request: Record<string, unknown> = {};
  for (const part of parts) {
    const given = merged[part];
    const parsed = above.get(given) ?? AccessRequest.shape[part].safeParse(given);
    if (typeof given === 'object' && given === defaults[part]) above.set(given, parsed);
    if (!parsed.success) return refusalOf(part, parsed.error);
    request[part] = parsed.data;
  }
  return { request: request as AccessRequest }; // each of its parts was parsed by its schema
}

const parts = ['subject', 'action', 'resource', 'context'] as const;

function refusalOf(part: Part, { issues: [issue] }: z.ZodError): Item {
  const path = [part, ...(issue?.path ?? [])].join('.');
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
