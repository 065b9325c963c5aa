import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { AppError, type Digest, type PlainJson, type TenantId } from '@countersign/contracts';
import { canonicalize, utf8Bytes } from '@countersign/crypto';

/** Encrypts the arguments of a call for its approver, so that the database alone does not reveal them. */
export type ArgsCipher = {
  /** Throws PAYLOAD_TOO_LARGE for arguments of more than 262,144 characters. */
  encrypt(of: ArgsPlace, args: Record<string, PlainJson>): string;
  /** `null` unless the text was encrypted for this approval, under the current secret. */
  decrypt(of: ArgsPlace, encrypted: string): Record<string, PlainJson> | null;
};

type ArgsPlace = { tenant: TenantId; id: string; argsHash: Digest };

/** The longest arguments. An approver reads no more than this, and a page of 200 approvals must fit into memory. */
const argsCharactersMax = 262_144;
const algorithm = 'aes-256-gcm';
const keyBytes = 32;
/** The length of a random nonce (NIST SP 800-38D §8.2). */
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a key per tenant. The label separates this key from other keys that are derived from the same
 * secret.
 */
export function argsCipher(secret: string): ArgsCipher {
  const keyOf = (tenant: TenantId) =>
    Buffer.from(hkdfSync('sha256', secret, '', `countersign.approval-arguments.v1\n${tenant}`, keyBytes));
  return {
    encrypt: (of, args) => {
      const text = canonicalize(args);
      if (text.length > argsCharactersMax)
        throw new AppError('PAYLOAD_TOO_LARGE', 'The arguments are too large to be approved by a person. Send fewer');
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keyOf(of.tenant), nonce, { authTagLength: tagBytes });
      cipher.setAAD(placeBytes(of));
      const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
    },
    decrypt: (of, encrypted) => {
      const bytes = Buffer.from(encrypted, 'base64');
      const nonce = bytes.subarray(0, nonceBytes);
      try {
        const decipher = createDecipheriv(algorithm, keyOf(of.tenant), nonce, { authTagLength: tagBytes });
        decipher.setAAD(placeBytes(of));
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        const args = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()];
        return JSON.parse(Buffer.concat(args).toString('utf8')) as Record<string, PlainJson>; // the kernel encrypted it
      } catch {
        return null;
      }
    },
  };
}

/**
 * The context that the ciphertext is bound to. The ciphertext does not decrypt for another approval or other arguments.
 */
function placeBytes({ tenant, id, argsHash }: ArgsPlace): Uint8Array {
  return utf8Bytes(`${tenant}\n${id}\n${argsHash}`);
}
