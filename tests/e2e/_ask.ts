import type { AnyRoute } from '@countersign/contracts';
import type { Probe } from './_published.ts';

export type Body = Record<string, never> & { data: Body[] };

/** Asks a route, and holds the answer against its published schema. */
export type Ask = (route: AnyRoute, probe?: Probe) => Promise<Body>;

/** The members of an answer that was compared with its published schema. */
export function members(body: unknown): Body {
  return body as Body;
}
