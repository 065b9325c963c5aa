import type { IncomingMessage } from 'node:http';
import { ToldRequest, toldRequestHeaders, type ReportedQuery } from '@countersign/contracts';
import { knownMembersOf, type FailedCall, type KnownMembers } from '@countersign/service-kit';

/** The reports of services behind the gateway on forwarded requests, until the gateway's reports are made. */
const toldOf = new WeakMap<IncomingMessage, string>();

/** Remembers what the answer to `req` tells of it, which goes no further. */
export function noteTold(req: IncomingMessage, answered: IncomingMessage['headers']): void {
  const told = answered[toldRequestHeaders.told];
  if (typeof told === 'string') toldOf.set(req, told);
}

/** A service may have been taken over: whatever names something that the contract of the route does not is nothing that it told. */
export function findTold({ req, route }: FailedCall): ToldRequest | null {
  const { data } = ToldRequest.safeParse(parsed(toldOf.get(req)));
  if (data === undefined) return null;
  const isOfRoute =
    isKnown(data.query, knownMembersOf(route?.query)) && isKnown(data.body, knownMembersOf(route?.body));
  return isOfRoute ? data : null;
}

function parsed(told: string | undefined): unknown {
  try {
    return told === undefined ? null : JSON.parse(Buffer.from(told, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function isKnown({ members }: Pick<ReportedQuery, 'members'>, known: KnownMembers): boolean {
  return members.every(({ path }) => path === '$' || leadsThrough(path.split('.'), known));
}

function leadsThrough([part = '', ...rest]: string[], known: KnownMembers): boolean {
  const [, name = '', items = ''] = /^(.*?)((?:\[\])*)$/.exec(part) ?? [];
  const member = name === '' ? known : known.member(name);
  if (member === null) return false;
  let inner = member;
  for (let level = 0; level < items.length / 2; level += 1) inner = inner.items();
  return rest.length === 0 || leadsThrough(rest, inner);
}
