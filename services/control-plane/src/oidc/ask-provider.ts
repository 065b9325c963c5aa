import { instantOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { hashOf, newLoginId } from '../sessions/tokens.ts';
import { insertLogin } from '../store/logins.ts';

type Input = { connectionId: string; browserKey: string };

/** Begins a login at the provider of a connection, in this browser. Throws NOT_FOUND, OIDC_UNAVAILABLE. */
export async function askProvider(
  context: Pick<Context, 'connections' | 'providers' | 'now' | 'transaction'>,
  { connectionId, browserKey }: Input,
) {
  const connection = context.connections.find(connectionId);
  if (connection === null) throw notFound();
  const loginId = newLoginId();
  const question = context.providers.newQuestion(loginId);
  const address = await context.providers.addressOf(connection, question);
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + loginLifetimeMs);
  const { nonce, verifier } = question;
  const oidc = { step: 'asked' as const, connectionId, nonce, verifier, browserHash: hashOf(browserKey) };
  const login = { email: null, userId: null, sessionId: null, statement: null, oidc, createdAt, expiresAt };
  await context.transaction((tx) => insertLogin(tx, { ...login, idHash: hashOf(loginId) }));
  return { login_id: loginId, method: 'oidc' as const, expires_at: instantOf(expiresAt), authorization_url: address };
}
