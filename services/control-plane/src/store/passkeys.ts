import { UserId, WorkspaceId } from '@countersign/contracts';
import { CredentialId } from '@countersign/contracts/governance-kernel';
import type { PasskeyModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/** The owner of the passkey, and the workspace whose tenant stores it in the kernel. */
export type StoredPasskey = {
  credentialId: CredentialId;
  userId: UserId;
  workspaceId: WorkspaceId;
  enrolledAt: Date;
  signedInAt: Date | null;
};

/** `false` when this id already exists. */
export async function insertPasskey(tx: Tx, passkey: Omit<StoredPasskey, 'signedInAt'>): Promise<boolean> {
  const { count } = await tx.passkey.createMany({ data: passkey, skipDuplicates: true });
  return count === 1;
}

export async function findPasskey(reader: Reader, credentialId: string): Promise<StoredPasskey | null> {
  const row = await reader.passkey.findUnique({ where: { credentialId } });
  return row === null ? null : passkeyOf(row);
}

/** More than the kernel permits per person and workspace. */
const toldMax = 100;

/** The passkeys of one person, newest first. */
export async function listPasskeysOf(reader: Reader, userId: UserId): Promise<StoredPasskey[]> {
  const rows = await reader.passkey.findMany({ where: { userId }, orderBy: { enrolledAt: 'desc' }, take: toldMax });
  return rows.map(passkeyOf);
}

export async function recordPasskeyUse(tx: Tx, { credentialId }: StoredPasskey, now: Date): Promise<void> {
  await tx.passkey.updateMany({ where: { credentialId }, data: { signedInAt: now } });
}

/** `true` for the one caller that removed the passkey. */
export async function removePasskey(tx: Tx, { credentialId }: StoredPasskey): Promise<boolean> {
  const { count } = await tx.passkey.deleteMany({ where: { credentialId } });
  return count === 1;
}

function passkeyOf({ credentialId, userId, workspaceId, enrolledAt, signedInAt }: PasskeyModel): StoredPasskey {
  return {
    credentialId: CredentialId.parse(credentialId),
    userId: UserId.parse(userId),
    workspaceId: WorkspaceId.parse(workspaceId),
    ...{ enrolledAt, signedInAt },
  };
}
