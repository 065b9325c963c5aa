import type { WorkspaceId } from '@countersign/contracts';
import { PublicProof } from '@countersign/contracts/control-plane';
import type { Reader, Tx } from './database.ts';

/** The setting of a workspace that has not chosen one: publications of its owners are public. */
const settingDefault: PublicProof = 'published';

export async function findPublicProof(reader: Reader, workspaceId: WorkspaceId): Promise<PublicProof> {
  const row = await reader.publicProof.findUnique({ where: { workspaceId } });
  return row === null ? settingDefault : PublicProof.parse(row.setting);
}

/** Like `findPublicProof`, with a lock until the transaction ends. Inserts the default if nothing is stored. */
export async function lockPublicProof(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<PublicProof> {
  const first = { workspaceId, setting: settingDefault, updatedAt: now };
  await tx.publicProof.createMany({ data: first, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM public_proofs WHERE workspace_id = ${workspaceId} FOR UPDATE`;
  return await findPublicProof(tx, workspaceId);
}

export async function writePublicProof(
  tx: Tx,
  { workspaceId, setting }: { workspaceId: WorkspaceId; setting: PublicProof },
  now: Date,
): Promise<void> {
  await tx.publicProof.update({ where: { workspaceId }, data: { setting, updatedAt: now } });
}
