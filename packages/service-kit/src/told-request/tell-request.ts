import {
  DecisionId,
  ErrorCode,
  ReasonCode,
  toldRequestHeaders,
  type ToldCaller,
  type ToldRequest,
} from '@countersign/contracts';
import type { FailedCall } from '../failed-call.ts';
import { reportedParts } from './reported-parts.ts';

/** Half of what Node accepts for all headers of an answer. */
const toldBytesMax = 8_000;

/**
 * The report on a failed call, as the value of a header. `null` when the caller requested no report, or when the error
 * has no known code. `caller`: the principal of a forwarded call, which the requesting gateway cannot know.
 */
export function toldRequestOf(call: FailedCall, caller: ToldCaller | null): string | null {
  if (call.req.headers[toldRequestHeaders.asked] !== '1') return null;
  const code = ErrorCode.safeParse(call.error?.code);
  if (!code.success) return null;
  const first = <Id>(id: { safeParse(value: unknown): { data?: Id | undefined } }, values: readonly unknown[]) =>
    values.map((value) => id.safeParse(value).data).find((found) => found !== undefined) ?? null;
  return fitted({
    error_code: code.data,
    reason_code: first(ReasonCode, [call.error?.reason_code, call.error?.details?.['reason_code']]),
    decision_id: first(DecisionId, Object.values(call.error?.details ?? {})),
    caller,
    ...reportedParts(call),
  });
}

/** Halves the list of members until the report fits. */
function fitted(report: ToldRequest): string {
  const text = Buffer.from(JSON.stringify(report)).toString('base64url');
  if (text.length <= toldBytesMax) return text;
  const { query, body } = report;
  return fitted({ ...report, query: halved(query), body: halved(body) });
}

function halved<Part extends ToldRequest['query']>(reported: Part): Part {
  const members = reported.members.slice(0, Math.floor(reported.members.length / 2));
  return { ...reported, members, isCut: reported.isCut || members.length < reported.members.length };
}
