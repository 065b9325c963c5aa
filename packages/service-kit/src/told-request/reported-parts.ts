import type { ReportedBody, ReportedQuery } from '@countersign/contracts';
import type { FailedCall } from '../failed-call.ts';
import { hasBody } from '../read-body.ts';
import { knownMembersOf } from './known-members.ts';
import { shapeOf } from './shape-of.ts';

type Reported = { query: ReportedQuery; body: ReportedBody };

/** The report on the query and the body of a failed call, which are attacker-controlled and may be secrets. */
export function reportedParts(call: FailedCall): Reported {
  return { query: queryOf(call), body: bodyOf(call) };
}

function queryOf({ query, route }: FailedCall): ReportedQuery {
  if (query === null) return { state: 'malformed', ...untold };
  if (Object.keys(query).length === 0) return { state: 'none', ...untold };
  return { state: 'read', ...shapeOf(query, knownMembersOf(route?.query)) };
}

function bodyOf(call: FailedCall): ReportedBody {
  const { req, route, received, receivedBytes } = call;
  const about = { contentType: contentTypeOf(req), bytes: receivedBytes ?? declaredBytes(req) };
  if (!hasBody(req)) return { ...about, contentType: null, state: 'none', ...untold };
  if (received !== undefined) return { ...about, state: 'read', ...shapeOf(received, knownMembersOf(route?.body)) };
  return { ...about, state: receivedBytes === null ? 'unread' : 'malformed', ...untold };
}

const untold = { members: [], unknownMembers: 0, isCut: false };

const toldTypes = new Set([
  'application/json',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'multipart/form-data',
  'text/plain',
]);

function contentTypeOf({ headers }: FailedCall['req']): string | null {
  const [type] = headers['content-type']?.split(';') ?? [];
  if (type === undefined) return null;
  const mediaType = type.trim().toLowerCase();
  return toldTypes.has(mediaType) ? mediaType : 'other';
}

/** A larger declared length is implausible and is not reported. */
const declaredBytesMax = 1_000_000_000;

function declaredBytes({ headers }: FailedCall['req']): number | null {
  const bytes = Number(headers['content-length']);
  return Number.isInteger(bytes) && bytes >= 0 && bytes <= declaredBytesMax ? bytes : null;
}
