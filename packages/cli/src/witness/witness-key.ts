import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { cosignerKey, type NoteKey, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { CommandFailed } from '../command-failed.ts';

/**
 * The name is stored with the key, because one key with two names would count as two parties. A cosignature does not
 * contain the name.
 */
const KeyFile = z.strictObject({
  format: z.literal('countersign/witness-key.v1'),
  name: z.string(),
  private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
});

export type WitnessKey = { key: NoteKey; signer: Signer };

/** Reads the key of a witness. `null` when there is no file. Throws CommandFailed. */
export async function findWitnessKey(path: string): Promise<WitnessKey | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return null;
  if ((found.mode & 0o077) !== 0)
    throw new CommandFailed(`Other accounts may read the key in ${path}. Run: chmod 600 '${path}'`, 2);
  try {
    const { name, private_key: pem } = KeyFile.parse(JSON.parse(await readFile(path, 'utf8')));
    return keyOf(name, createSigner(pem));
  } catch {
    // The message of a parser could contain the key, so it is not shown.
    throw new CommandFailed(`The key in ${path} is damaged. Restore the file from a backup`, 2);
  }
}

/** Makes a key. `write` replaces the file durably. Throws CommandFailed for a name that is invalid in notes. */
export async function makeWitnessKey(
  path: string,
  name: string,
  write: (path: string, text: string) => Promise<void>,
): Promise<WitnessKey> {
  const { privateKeyPem } = generateSigningKey();
  const made = keyOf(name, createSigner(privateKeyPem));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await write(path, `${JSON.stringify({ format: 'countersign/witness-key.v1', name, private_key: privateKeyPem })}\n`);
  return made;
}

function keyOf(name: string, signer: Signer): WitnessKey {
  try {
    return { key: cosignerKey(nodeProvider, name, signer.publicKey), signer };
  } catch (cause) {
    throw new CommandFailed('--name is a name without spaces and plus signs, such as witness.example.org/w1', 2, {
      cause,
    });
  }
}
