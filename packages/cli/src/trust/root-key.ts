import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey, type Signer } from '@countersign/crypto/signing';
import { CommandFailed } from '../command-failed.ts';

const ownerOnly = 0o600;

/** Reads the offline root key. Throws CommandFailed. */
export function readRootKey(file: string): Signer {
  try {
    return createSigner(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new CommandFailed(`--root-key ${file} is not an Ed25519 key in PKCS#8 PEM that this account can read`, 2, {
      cause,
    });
  }
}

/** Makes a key in a new file that only its owner can read. Throws CommandFailed if the file exists. */
export function makeKey(file: string): { publicKey: Uint8Array; keyId: string } {
  const { privateKeyPem, publicKey, keyId } = generateSigningKey();
  try {
    writeFileSync(file, privateKeyPem, { mode: ownerOnly, flag: 'wx' });
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be written as a new file. Name one that does not exist`, 2, { cause });
  }
  return { publicKey, keyId };
}

export function openRootKey(file: string): Signer {
  if (!existsSync(file)) makeKey(file);
  return readRootKey(file);
}

/** The public root key, which auditors and kernels pin. */
export function rootOf({ publicKey }: Pick<Signer, 'publicKey'>): string {
  return encodeBase64Url(publicKey);
}
