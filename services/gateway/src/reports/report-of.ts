import { DecisionId, Instant, ReasonCode, RunId, TaskId } from '@countersign/contracts';
import type { CallReport } from '@countersign/contracts/gateway';
import { reportedParts, type FailedCall } from '@countersign/service-kit';
import { findTold } from '../forwarding/told-by-service.ts';
import { authMechanism } from './auth-mechanism.ts';

/** A report whose caller may be unknown. */
export type ToldReport = Omit<CallReport, 'principal'> & { principal: string | null };

type About = Pick<ToldReport, 'id' | 'version' | 'workspaceId' | 'principal'> & { now: Date };

/**
 * The report of a failed call. Values from the caller in `call` are attacker-controlled and may be secrets. Only the
 * method, the request id, known names and ids, types and sizes are passed on.
 */
export function reportOf(call: FailedCall, { now, ...about }: About): ToldReport {
  const { req, route, requestId, status, error } = call;
  const found = findTold(call);
  const { query, body } = reportedParts(call);
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
    errorCode: error?.code ?? found?.error_code ?? null,
    reasonCode: first(ReasonCode, [error?.reason_code, call.answered('x-gov-reason-code'), found?.reason_code]),
    auth: authMechanism(req),
    taskId: first(TaskId, named),
    runId: first(RunId, named),
    decisionId: first(DecisionId, [call.answered('x-gov-decision-id'), found?.decision_id, ...named]),
    query: found?.query ?? query,
    // Size and type of the body are those that this gateway saw, whatever the service reported.
    body: { ...body, ...found?.body, contentType: body.contentType, bytes: body.bytes },
  };
}

/** Ids that grant no access. A caller may send any text in their place. */
const publicId =
  /^(usr|wsp|tsk|run|stp|apr|vio|evd|aud|ses|inv|hpk|sub|ntf|rpt|rcp|dec|rec|chk)_[0-9A-HJKMNP-TV-Z]{26}$/;

function idsOf(params: FailedCall['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => publicId.test(value)));
}
