import type { IncomingMessage } from 'node:http';
import { ToldRequest, toldRequestHeaders, type ReportedQuery } from '@countersign/contracts';
import { knownMembersOf, type FailedCall, type KnownMembers } from '@countersign/service-kit';

/** Reports of services about forwarded requests, until the gateway writes its own reports. */
const toldOf = new WeakMap<IncomingMessage, string>();

/** Stores the report in the answer to `req`. It is not forwarded to the caller. */
export function noteTold(req: IncomingMessage, answered: IncomingMessage['headers']): void {
  const reported = answered[toldRequestHeaders.told];
  if (typeof reported === 'string') toldOf.set(req, reported);
}

/** A service may be compromised, so a report is ignored unless it matches the contract of the route. */
export function findTold({ req, route }: FailedCall): ToldRequest | null {
  const { data } = ToldRequest.safeParse(parsed(toldOf.get(req)));
  if (data === undefined) return null;
  const isOfRoute =
    isKnown(data.query, knownMembersOf(route?.query)) && isKnown(data.body, knownMembersOf(route?.body));
  return isOfRoute ? data : null;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function isKnown({ members }: Pick<ReportedQuery, 'members'>, knownMembers: KnownMembers): boolean {
  return members.every(({ path }) => path === '$' || leadsThrough(path.split('.'), knownMembers));
}

function leadsThrough([segment = '', ...rest]: string[], members: KnownMembers): boolean {
  const [, name = '', items = ''] = /^(.*?)((?:\[\])*)$/.exec(segment) ?? [];
  const member = name === '' ? members : members.member(name);
  if (member === null) return false;
  let inner = member;
  for (let level = 0; level < items.length / 2; level += 1) inner = inner.items();
  return rest.length === 0 || leadsThrough(rest, inner);
}
