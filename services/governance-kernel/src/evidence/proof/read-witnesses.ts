import { parseCosignerVkey } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Witness } from './ask-witness.ts';

/** The configured witnesses: addresses, and keys in the same order. Throws an error for the operator. */
export function readWitnesses(urls: readonly string[], keys: readonly string[]): Witness[] {
  if (urls.length !== keys.length)
    throw new Error(
      `it has ${keys.length} keys for ${urls.length} addresses. Each address needs one key, in the same order`,
    );
  const witnesses = urls.map((url, at) => {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error(`the address ${url} is not an http or https address`);
    return { url: url.replace(/\/$/, ''), key: parseCosignerVkey(nodeProvider, keys[at] ?? '') };
  });
  const names = new Set(witnesses.map(({ key }) => `${key.name}+${key.keyId}`));
  if (names.size < witnesses.length) throw new Error('it contains the same key twice');
  return witnesses;
}
