import { SignInId, UserId, WorkspaceId } from '@countersign/contracts';
import { Role } from '@countersign/contracts/gateway';
import type { DeviceLoginModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import type { Within } from './sessions.ts';

/** Who let a program in, or refused it, and by which session. */
type Answerer = { userId: UserId; sessionId: SignInId };

/** A program that asks to be let in. Before the answer `workspaceId` and `role` are what it asks for, behind it what it has. */
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

/** One that a person can still answer. */
export async function findPendingByUserCode(
  reader: Reader,
  userCode: string,
  now: Date,
): Promise<StoredDeviceLogin | null> {
  const row = await reader.deviceLogin.findUnique({ where: { userCode, state: 'pending', expiresAt: { gt: now } } });
  return row === null ? null : loginOf(row);
}

/** Null: there never was one, or it is long gone. Other requests of the program wait until the transaction is over. */
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

/** True for the one answer that counts. */
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

/** Programs that a person let in, and that have no session yet, get none. */
export async function denyDeviceLoginsOf(
  tx: Tx,
  { userId, createdBefore }: { userId: UserId; createdBefore: Date },
): Promise<void> {
  const where = { userId, state: 'approved', createdAt: { lte: createdBefore } };
  await tx.deviceLogin.updateMany({ where, data: { state: 'denied' } });
}

/** Removes those that ended before this moment. */
export async function forgetDeviceLogins(tx: Tx, before: Date): Promise<void> {
  await tx.deviceLogin.deleteMany({ where: { expiresAt: { lt: before } } });
}

const states: ReadonlySet<string> = new Set<StoredDeviceLogin['state']>(['pending', 'approved', 'denied', 'used']);

function loginOf({ workspaceId, role, state, userId, sessionId, ...row }: DeviceLoginModel): StoredDeviceLogin {
  if (!states.has(state)) throw new Error(`There is no state ${state} of a device login`);
  return {
    ...row,
    workspaceId: WorkspaceId.nullable().parse(workspaceId),
    role: Role.parse(role),
    state: state as StoredDeviceLogin['state'], // one of them, as was just looked up
    answeredBy: userId === null ? null : { userId: UserId.parse(userId), sessionId: SignInId.parse(sessionId) },
  };
}
