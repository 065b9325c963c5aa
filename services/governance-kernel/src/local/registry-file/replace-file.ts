import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Moments of a replacement, in this order. */
export type ReplaceStep = 'created' | 'written' | 'synced' | 'renamed' | 'folder_synced';

/**
 * Replaces a whole file. After a crash or a power failure, the file has the old text or the new text. Once the promise
 * resolves, it has the new text.
 */
export async function replaceFile(path: string, text: string, onStep?: (step: ReplaceStep) => void): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      onStep?.('created');
      await file.writeFile(text);
      onStep?.('written');
      await file.sync();
      onStep?.('synced');
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  onStep?.('renamed');
  await syncFolder(folder);
  onStep?.('folder_synced');
}

/** A rename survives a power failure once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
