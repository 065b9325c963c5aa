import { z } from 'zod';
import { ErrorCode } from './error-codes.ts';
import { KeyThumbprint } from './governance-kernel/agent-token.ts';
import { ReasonCode } from './reason-codes.ts';
import { AccessKeyId, DecisionId, WorkspaceId } from './scalars.ts';

/** The name and type of a request member, without its value. `path` consists of names in the contract of the route. */
export const ReportedMember = z.strictObject({
  /** For example `policyConfig.blockedTools[]`. `$` is the whole body. */
  path: z.string(),
  type: z.enum(['object', 'array', 'string', 'number', 'boolean', 'null']),
  /** The number of characters, items or members. If several values have the path, the highest number. */
  size: z.int().min(0).nullable(),
});
export type ReportedMember = z.infer<typeof ReportedMember>;

const Shape = {
  /**
   * `unread`: the request was rejected before the body was read, or the body was forwarded unread. `malformed`: the
   * body could not be parsed.
   */
  state: z.enum(['none', 'unread', 'malformed', 'read']),
  members: z.array(ReportedMember),
  /** The number of members that are not in the contract. Their names may be anything, so they are not listed. */
  unknownMembers: z.int().min(0),
  /** Whether there are more members than listed. */
  isCut: z.boolean(),
};

export const ReportedQuery = z.strictObject(Shape);
export type ReportedQuery = z.infer<typeof ReportedQuery>;

export const ReportedBody = z.strictObject({
  ...Shape,
  /** `other` for all types that no route accepts. */
  contentType: z.string().nullable(),
  /** The length as received, or as declared for an unread body. `null` when it is unknown. */
  bytes: z.int().min(0).nullable(),
});
export type ReportedBody = z.infer<typeof ReportedBody>;

/** The mechanism by which the caller tried to authenticate. The status shows whether it was accepted. */
export const AuthMechanism = z.enum([
  'session',
  'browser_session',
  'device',
  'api_key',
  'agent_key',
  'none',
  'unknown',
]);
export type AuthMechanism = z.infer<typeof AuthMechanism>;

/** An agent with a key of the kernel, which the gateway does not know. */
export const ToldCaller = z.strictObject({ workspace_id: WorkspaceId, key_id: z.union([AccessKeyId, KeyThumbprint]) });
export type ToldCaller = z.infer<typeof ToldCaller>;

/**
 * The report of a service behind the gateway about a rejected request. The gateway requests it, since it forwarded the
 * body unread.
 */
export const ToldRequest = z.strictObject({
  error_code: ErrorCode,
  reason_code: ReasonCode.nullable(),
  decision_id: DecisionId.nullable(),
  /** `null` when the gateway knows the caller, or the caller is unknown. */
  caller: ToldCaller.nullable(),
  query: ReportedQuery,
  body: ReportedBody,
});
export type ToldRequest = z.infer<typeof ToldRequest>;

/**
 * The header `asked` with the value 1 requests a report from a service. The header `told` returns it, as the JSON of a
 * ToldRequest in base64url. The gateway forwards neither of them.
 */
export const toldRequestHeaders = { asked: 'x-tell-request', told: 'x-told-request' } as const;
