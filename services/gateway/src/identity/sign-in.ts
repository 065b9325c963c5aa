import { AppError } from '@countersign/contracts';
import type { SignedIn } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { countTry, endCode, findLiveCode, lockAddress } from '../store/email-codes.ts';
import { insertSession } from '../store/sessions.ts';
import { ensureUser } from '../store/users.ts';
import { joinInvited } from '../members/join-invited.ts';
import { createWorkspace, findFirstMembership } from '../store/workspaces.ts';
import { checkCode } from './email-code.ts';
import { maySignUp } from './sign-up.ts';
import { newSessionToken, sessionLifetimeMs, sessionTokenHash } from './session-token.ts';

type SignInAttempt = { email: string; code: string; requestId: string };

/** Exchanges a code for a session; the first time it makes user and workspace. Throws CODE_INVALID, whatever was wrong. */
export async function signIn(context: Context, attempt: SignInAttempt): Promise<SignedIn> {
  const signedIn = await context.transaction(async (tx) => {
    const isAccepted = await spendTry(tx, context, attempt);
    // A refusal returns instead of throwing: the try that it cost has to be committed.
    return isAccepted ? openSession(tx, context, attempt) : null;
  });
  if (signedIn === null) throw new AppError('CODE_INVALID', 'The code is wrong or no longer valid');
  return signedIn;
}

async function spendTry(tx: Tx, context: Context, { email, code }: SignInAttempt): Promise<boolean> {
  const now = context.now();
  await lockAddress(tx, email);
  const live = await findLiveCode(tx, email);
  const verdict = checkCode(live, { code, email, secret: context.config.sessionSecret, now });
  if (live !== null && verdict === 'refused') await countTry(tx, live.id);
  if (live !== null && verdict !== 'refused') await endCode(tx, live.id, now);
  if (verdict !== 'accepted') context.log.info('sign_in.refused', { verdict });
  return verdict === 'accepted';
}

async function openSession(tx: Tx, context: Context, { email, requestId }: SignInAttempt): Promise<SignedIn> {
  const now = context.now();
  const user = await ensureUser(tx, email, now);
  const invited = await joinInvited(tx, { user, requestId, now });
  const known = invited.at(-1) ?? (await findFirstMembership(tx, user.id));
  if (known === null && !maySignUp(context.config.signUp, email))
    throw new AppError('PERMISSION_DENIED', 'This installation opens no workspace for this address; ask its operator');
  const workspace = known ?? (await createWorkspace(tx, user, now));
  const token = newSessionToken();
  const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
  await insertSession(tx, { userId: user.id, tokenHash: sessionTokenHash(token), createdAt: now, expiresAt });
  const { workspaceId } = workspace;
  const event = { workspaceId, actor: user.id, verdict: 'allow', subject: workspaceId, requestId } as const;
  if (known === null) await recordAudit(tx, { ...event, action: 'workspace.created' }, now);
  await recordAudit(tx, { ...event, action: 'session.opened', subject: user.id }, now);
  return { token, user, workspace: { id: workspaceId, name: workspace.workspaceName } };
}
