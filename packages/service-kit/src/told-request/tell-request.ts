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

/** Half of what Node takes for all headers of an answer. */
const toldBytesMax = 8_000;

/** What the caller of a failed call asks to be told of it, as the value of a header; null: it did not ask. `caller`: whom it cannot know. */
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

/** With as many members as there is room for. */
function fitted(told: ToldRequest): string {
  const text = Buffer.from(JSON.stringify(told)).toString('base64url');
  if (text.length <= toldBytesMax) return text;
  const { query, body } = told;
  return fitted({ ...told, query: halved(query), body: halved(body) });
}

function halved<Part extends ToldRequest['query']>(part: Part): Part {
  const members = part.members.slice(0, Math.floor(part.members.length / 2));
  return { ...part, members, isCut: part.isCut || members.length < part.members.length };
}
