import { z } from 'zod';
import { ErrorCode } from './error-codes.ts';
import { KeyThumbprint } from './governance-kernel/agent-token.ts';
import { ReasonCode } from './reason-codes.ts';
import { AccessKeyId, DecisionId, WorkspaceId } from './scalars.ts';

/**
 * The name and type of a request member, and never its value. `path` is made of names that the contract of the route
 * knows.
 */
export const ReportedMember = z.strictObject({
  /** Such as `policyConfig.blockedTools[]`; `$` is the whole. */
  path: z.string(),
  type: z.enum(['object', 'array', 'string', 'number', 'boolean', 'null']),
  /** Characters of a text, items of an array, members of an object; the greatest, where several share the path. */
  size: z.int().min(0).nullable(),
});
export type ReportedMember = z.infer<typeof ReportedMember>;

const Shape = {
  /** `unread`: refused before it was read, or passed on as it came. `malformed`: it could not be read. */
  state: z.enum(['none', 'unread', 'malformed', 'read']),
  members: z.array(ReportedMember),
  /** Members that the contract does not know. Their names may be anything, so they are counted and not told. */
  unknownMembers: z.int().min(0),
  /** There is more than is told. */
  isCut: z.boolean(),
};

export const ReportedQuery = z.strictObject(Shape);
export type ReportedQuery = z.infer<typeof ReportedQuery>;

export const ReportedBody = z.strictObject({
  ...Shape,
  /** `other` for every type that no route takes. */
  contentType: z.string().nullable(),
  /** The length as received, or as declared for an unread body; `null` when it is unknown. */
  bytes: z.int().min(0).nullable(),
});
export type ReportedBody = z.infer<typeof ReportedBody>;

/** The mechanism by which a caller tried to authenticate. Whether it was taken, the status says. */
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

/** An agent that the kernel knows by a key of its own, and the gateway does not. */
export const ToldCaller = z.strictObject({ workspace_id: WorkspaceId, key_id: z.union([AccessKeyId, KeyThumbprint]) });
export type ToldCaller = z.infer<typeof ToldCaller>;

/**
 * The report of a service behind the gateway about a request that it refused, if the gateway asks. The gateway
 * forwarded the body without reading it.
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

/** `asked`, with the value 1, is sent to a service; `told` is the JSON of a ToldRequest in base64url. Neither gets through the gateway. */
export const toldRequestHeaders = { asked: 'x-tell-request', told: 'x-told-request' } as const;
