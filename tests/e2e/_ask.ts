import type { AnyRoute } from '@countersign/contracts';
import type { Probe } from './_published.ts';

export type Body = Record<string, never> & { data: Body[] };

/** Calls a route, and validates the answer against its published schema. */
export type Ask = (route: AnyRoute, probe?: Probe) => Promise<Body>;

/** The members of an answer that was validated against its published schema. */
export function members(body: unknown): Body {
  return body as Body;
}
