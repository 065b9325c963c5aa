import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openCosignatures, parseCheckpoint, splitNote, type NoteKey, type TreeHead } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { acquireFileLock, LockBusy, replaceFile, type ReplaceStep } from '@countersign/governance-kernel/durable-files';
import { CommandFailed } from '../command-failed.ts';
import { findWitnessKey, makeWitnessKey, type WitnessKey } from './witness-key.ts';

/** The last cosigned checkpoint of one log. `note` is the checkpoint with the cosignature. */
export type CosignedHead = TreeHead & { origin: string; seconds: number; text: string; note: string };

/** The file stores whole checkpoints. Size, root and time are read from them, so no second copy can contradict them. */
const StateFile = z.strictObject({ format: z.literal('countersign/witness.v1'), cosigned: z.array(z.string()) });

const lockWaitMs = 5_000;

export type WitnessFolder = WitnessKey & {
  heads: ReadonlyMap<string, CosignedHead>;
  /** Stores the heads of all logs. They are durable when it resolves. */
  save(heads: ReadonlyMap<string, CosignedHead>): Promise<void>;
  close(): Promise<void>;
};

/** `onStep` is called at each step of writing the state. Tests kill the process at such a step. */
type FolderOptions = { path: string; name: string; onStep?: ((step: ReplaceStep) => void) | undefined };

/**
 * Opens the folder of a witness for this process alone. The first start makes the key. A key without its state is
 * refused, because a witness without its state could cosign a second history. Throws CommandFailed.
 */
export async function openWitnessFolder({ path, name, onStep }: FolderOptions): Promise<WitnessFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const release = await locked(path);
  try {
    const { key, signer } = await openKey(path, name);
    const statePath = join(path, 'cosigned.json');
    const notes = await readState(statePath);
    if (notes === null) throw new Error('The state of the witness is missing, although it is written before the key');
    const heads = new Map(notes.map((note) => headOf(note, key, statePath)).map((head) => [head.origin, head]));
    const save: WitnessFolder['save'] = (all) => replaceFile(statePath, stateText(all), onStep);
    return { key, signer, heads, save, close: release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function locked(path: string): Promise<() => Promise<void>> {
  try {
    return await acquireFileLock(join(path, 'lock'), { waitMs: lockWaitMs });
  } catch (cause) {
    if (cause instanceof LockBusy) throw new CommandFailed(cause.message, 2, { cause });
    throw cause;
  }
}

async function openKey(path: string, name: string): Promise<WitnessKey> {
  const keyPath = join(path, 'witness-key.json');
  const statePath = join(path, 'cosigned.json');
  const found = await findWitnessKey(keyPath);
  const notes = await readState(statePath);
  if (found === null) {
    if (notes !== null && notes.length > 0)
      throw new CommandFailed(`${statePath} has no key. Restore ${keyPath} from a backup, or name another folder`, 2);
    if (notes === null) await replaceFile(statePath, stateText(new Map()));
    return await makeWitnessKey(keyPath, name, replaceFile);
  }
  if (notes === null)
    throw new CommandFailed(
      `${statePath} is lost, so this witness may not cosign with its key again. Name another folder, which makes a new key`,
      2,
    );
  if (found.key.name !== name)
    throw new CommandFailed(
      `The key in ${keyPath} belongs to ${found.key.name}. Pass this name as --name, or name another folder`,
      2,
    );
  return found;
}

/** `null` when there is no file. */
async function readState(path: string): Promise<string[] | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return StateFile.parse(JSON.parse(text)).cosigned;
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function headOf(note: string, key: NoteKey, path: string): CosignedHead {
  try {
    const { text } = splitNote(note);
    const [cosignature] = openCosignatures(nodeProvider, note, [key]);
    if (cosignature === undefined) throw new Error('no cosignature of this witness');
    const { origin, size, root } = parseCheckpoint(text);
    return { origin, size, root, seconds: cosignature.seconds, text, note };
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function stateText(heads: ReadonlyMap<string, CosignedHead>): string {
  const cosigned = [...heads.values()].map(({ note }) => note);
  return `${JSON.stringify({ format: 'countersign/witness.v1', cosigned })}\n`;
}

/** The message proposes no backup: with an older state, the witness could cosign a second history. */
function damaged(path: string, cause: unknown): CommandFailed {
  const words = `${path} is damaged, so this witness may not cosign with its key again. Name another folder, which makes a new key`;
  return new CommandFailed(words, 2, { cause });
}
