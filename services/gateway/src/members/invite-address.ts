import type { Context } from '../context.ts';

/** The address at which an invite is accepted: a page of the console, or of the gateway without a console. */
export function inviteAddress({ publicUrl, controlPlane }: Context['config'], token: string): string {
  const path = controlPlane === null ? '/invite' : '/console/invite';
  return new URL(`${path}/${encodeURIComponent(token)}`, publicUrl).href;
}
