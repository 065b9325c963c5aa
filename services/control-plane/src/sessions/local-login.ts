import type { Context } from '../context.ts';
import { recordCodeLogin } from './record-code-login.ts';

/**
 * Begins a login for the person at the terminal of the embedded profile, who needs no mail. It is finished by the code
 * that the gateway issues for the address there. Answers its login_id.
 */
export async function beginLocalLogin(context: Context, email: string): Promise<string> {
  const { login_id } = await recordCodeLogin(context, { email, userId: null, sessionId: null }, undefined);
  return login_id;
}
