import { AppError, ApprovalId, SessionId } from '@countersign/contracts';
import type { z } from 'zod';
import type { Caller } from '../../call/governed-call.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The session in a header, or `null`. Throws INVALID_REQUEST. */
export function sessionHeader(headers: Headers): SessionId | null {
  return parseNamed(SessionId, 'X-Gov-Session-ID', headers['x-gov-session-id']);
}

export function approvalGrantHeader(headers: Headers): ApprovalId | null {
  return parseNamed(ApprovalId, 'X-Gov-Approval-Grant', headers['x-gov-approval-grant']);
}

/** `null` without a value. Throws INVALID_REQUEST with the name of the member. */
export function parseNamed<Shape extends z.ZodType>(
  shape: Shape,
  name: string,
  value: unknown,
): z.output<Shape> | null {
  return value === undefined ? null : parseGiven(shape, name, value);
}

/** Throws INVALID_REQUEST with the name of the member. */
export function parseGiven<Shape extends z.ZodType>(shape: Shape, name: string, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (!parsed.success)
    throw new AppError('INVALID_REQUEST', `${name}: ${parsed.error.issues[0]?.message ?? 'malformed'}`, {
      param: name,
    });
  return parsed.data;
}

/**
 * The session of a caller that names no session. A principal has the same session on every route. An approval belongs
 * to one session, so the approval of a call that a model proposed also counts for the same call over MCP.
 */
export function defaultSession({ principal }: Pick<Caller, 'principal'>): SessionId {
  const cut = `default-${principal.replace(/[/\\]/g, '_')}`.slice(0, sessionLengthMax);
  // The cut may split a character, and a session name must not contain half of one.
  return SessionId.parse(cut.replace(/\p{Cs}$/u, '').trim());
}

const sessionLengthMax = 256;
