import { DecisionId, Instant, ReasonCode, RunId, TaskId, type WorkspaceId } from '@countersign/contracts';
import type { CallReport, ReportedBody, ReportedQuery } from '@countersign/contracts/gateway';
import { hasBody, type FailedCall } from '@countersign/service-kit';
import { authMechanism } from './auth-mechanism.ts';
import { knownMembersOf } from './known-members.ts';
import { shapeOf } from './shape-of.ts';

/** A report before anybody knows whether it is a member's. */
export type ToldReport = Omit<CallReport, 'workspaceId' | 'principal'> & {
  workspaceId: WorkspaceId | null;
  principal: string | null;
};

type About = Pick<ToldReport, 'id' | 'version' | 'workspaceId' | 'principal'> & { now: Date };

/**
 * What is told of a failed call. Everything in `call` that its caller sent is attacker-controlled and may be a secret: of it go on
 * its method, its request id, names and ids that are ours, types and sizes.
 */
export function reportOf(call: FailedCall, { now, ...about }: About): ToldReport {
  const { req, route, requestId, status, error } = call;
  const pathIds = idsOf(call.params);
  const named = [...Object.values(pathIds), ...Object.values(error?.details ?? {})];
  const first = <Id>(id: { safeParse(value: unknown): { data?: Id | undefined } }, values: readonly unknown[]) =>
    values.map((value) => id.safeParse(value).data).find((found) => found !== undefined) ?? null;
  return {
    ...about,
    requestId,
    createdAt: Instant.parse(now.toISOString()),
    method: req.method ?? '',
    path: call.path,
    pathIds,
    operation: route?.operation ?? null,
    status,
    errorCode: error?.code ?? null,
    reasonCode: first(ReasonCode, [error?.reason_code, call.answered('x-gov-reason-code')]),
    auth: authMechanism(req),
    taskId: first(TaskId, named),
    runId: first(RunId, named),
    decisionId: first(DecisionId, [call.answered('x-gov-decision-id'), ...named]),
    query: queryOf(call),
    body: bodyOf(call),
  };
}

/** Ids that open nothing, whoever knows them. A caller may send anything in the place of one. */
const publicId =
  /^(usr|wsp|tsk|run|stp|apr|vio|evd|aud|ses|inv|hpk|sub|ntf|rpt|rcp|dec|rec|chk)_[0-9A-HJKMNP-TV-Z]{26}$/;

function idsOf(params: FailedCall['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => publicId.test(value)));
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
  const told = type.trim().toLowerCase();
  return toldTypes.has(told) ? told : 'other';
}

/** A number that no body of anybody's has is not told either. */
const declaredBytesMax = 1_000_000_000;

function declaredBytes({ headers }: FailedCall['req']): number | null {
  const bytes = Number(headers['content-length']);
  return Number.isInteger(bytes) && bytes >= 0 && bytes <= declaredBytesMax ? bytes : null;
}
