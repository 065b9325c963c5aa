import { DecisionId, Instant, ReasonCode, RunId, TaskId } from '@countersign/contracts';
import type { CallReport } from '@countersign/contracts/gateway';
import { reportedParts, type FailedCall } from '@countersign/service-kit';
import { findTold } from '../forwarding/told-by-service.ts';
import { authMechanism } from './auth-mechanism.ts';

/** A report before its owner is known. */
export type ToldReport = Omit<CallReport, 'principal'> & { principal: string | null };

type About = Pick<ToldReport, 'id' | 'version' | 'workspaceId' | 'principal'> & { now: Date };

/**
 * The report on a failed call. The values in `call` that its caller sent are attacker-controlled and may be secrets.
 * Only the method, the request id, names and ids that are ours, types and sizes are passed on.
 */
export function reportOf(call: FailedCall, { now, ...about }: About): ToldReport {
  const { req, route, requestId, status, error } = call;
  const told = findTold(call);
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
    errorCode: error?.code ?? told?.error_code ?? null,
    reasonCode: first(ReasonCode, [error?.reason_code, call.answered('x-gov-reason-code'), told?.reason_code]),
    auth: authMechanism(req),
    taskId: first(TaskId, named),
    runId: first(RunId, named),
    decisionId: first(DecisionId, [call.answered('x-gov-decision-id'), told?.decision_id, ...named]),
    query: told?.query ?? query,
    // How much came and of which type is seen here.
    body: { ...body, ...told?.body, contentType: body.contentType, bytes: body.bytes },
  };
}

/** Ids that open nothing when they are known. A caller may send anything in the place of one. */
const publicId =
  /^(usr|wsp|tsk|run|stp|apr|vio|evd|aud|ses|inv|hpk|sub|ntf|rpt|rcp|dec|rec|chk)_[0-9A-HJKMNP-TV-Z]{26}$/;

function idsOf(params: FailedCall['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => publicId.test(value)));
}
