import type { Context } from '../context.ts';
import { recordCodeLogin } from './record-code-login.ts';

/**
 * Begins a login for the person at the terminal of the embedded profile, who needs no mail. At the terminal, the
 * gateway issues the code for this address. The code completes the login. Returns the login_id.
 */
export async function beginLocalLogin(context: Pick<Context, 'now' | 'transaction'>, email: string): Promise<string> {
  const { login_id } = await recordCodeLogin(context, { email, userId: null, sessionId: null }, undefined);
  return login_id;
}
