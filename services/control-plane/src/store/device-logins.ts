import { SignInId, UserId, WorkspaceId } from '@countersign/contracts';
import { Role } from '@countersign/contracts/gateway';
import type { DeviceLoginModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import type { Within } from './sessions.ts';

/** The person who authorized or refused a program, and the session in which they did. */
type Answerer = { userId: UserId; sessionId: SignInId };

/**
 * A program that requests authorization. Before a person answers, `workspaceId` and `role` are what the program
 * requested. After the answer, they are what the person granted.
 */
export type StoredDeviceLogin = {
  codeHash: string;
  userCode: string;
  client: string;
  address: string;
  workspaceId: WorkspaceId | null;
  role: Role;
  createdAt: Date;
  expiresAt: Date;
  intervalSeconds: number;
  polledAt: Date | null;
  state: 'pending' | 'approved' | 'denied' | 'used';
  answeredBy: Answerer | null;
};

type NewDeviceLogin = Omit<StoredDeviceLogin, 'polledAt' | 'state' | 'answeredBy'>;

export async function insertDeviceLogin(tx: Tx, login: NewDeviceLogin): Promise<void> {
  await tx.deviceLogin.create({ data: { ...login, state: 'pending' } });
}

/** The login with this user code that a person can still answer. */
export async function findPendingByUserCode(
  reader: Reader,
  userCode: string,
  now: Date,
): Promise<StoredDeviceLogin | null> {
  const row = await reader.deviceLogin.findUnique({ where: { userCode, state: 'pending', expiresAt: { gt: now } } });
  return row === null ? null : loginOf(row);
}

/** Locks the login until the transaction ends. `null` when it never existed, or was removed. */
export async function lockDeviceLogin(tx: Tx, codeHash: string): Promise<StoredDeviceLogin | null> {
  await tx.$executeRaw`SELECT FROM device_logins WHERE code_hash = ${codeHash} FOR UPDATE`;
  const row = await tx.deviceLogin.findUnique({ where: { codeHash } });
  return row === null ? null : loginOf(row);
}

export async function recordPoll(
  tx: Tx,
  { codeHash }: StoredDeviceLogin,
  poll: { polledAt: Date; intervalSeconds: number },
): Promise<void> {
  await tx.deviceLogin.update({ where: { codeHash }, data: poll });
}

type Answer = Answerer & { now: Date } & (({ state: 'approved' } & Within) | { state: 'denied' });

/** `true` for the one answer that takes effect. */
export async function answerDeviceLogin(
  tx: Tx,
  { codeHash }: StoredDeviceLogin,
  { now, ...answer }: Answer,
): Promise<boolean> {
  const { count } = await tx.deviceLogin.updateMany({
    where: { codeHash, state: 'pending', expiresAt: { gt: now } },
    data: answer,
  });
  return count === 1;
}

export async function useDeviceLogin(tx: Tx, { codeHash }: StoredDeviceLogin): Promise<void> {
  await tx.deviceLogin.update({ where: { codeHash }, data: { state: 'used' } });
}

/** Refuses programs that a person authorized and that have no session yet. */
export async function denyDeviceLoginsOf(
  tx: Tx,
  { userId, createdBefore }: { userId: UserId; createdBefore: Date },
): Promise<void> {
  const where = { userId, state: 'approved', createdAt: { lte: createdBefore } };
  await tx.deviceLogin.updateMany({ where, data: { state: 'denied' } });
}

/** Removes logins that expired before this moment. */
export async function forgetDeviceLogins(tx: Tx, before: Date): Promise<void> {
  await tx.deviceLogin.deleteMany({ where: { expiresAt: { lt: before } } });
}

const states: ReadonlySet<string> = new Set<StoredDeviceLogin['state']>(['pending', 'approved', 'denied', 'used']);

function loginOf({ workspaceId, role, state, userId, sessionId, ...row }: DeviceLoginModel): StoredDeviceLogin {
  if (!states.has(state)) throw new Error(`The device login has the unknown state ${state}`);
  return {
    ...row,
    workspaceId: WorkspaceId.nullable().parse(workspaceId),
    role: Role.parse(role),
    state: state as StoredDeviceLogin['state'], // `states` was checked above
    answeredBy: userId === null ? null : { userId: UserId.parse(userId), sessionId: SignInId.parse(sessionId) },
  };
}
