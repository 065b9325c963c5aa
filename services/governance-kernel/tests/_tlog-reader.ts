import { createHash, createPublicKey, verify } from 'node:crypto';
import { verifyCheckpoint, type LogCheckpoint } from '@sigstore/verify/dist/tlog/checkpoint.js';
import { verifyMerkleInclusion } from '@sigstore/verify/dist/tlog/merkle.js';

/**
 * Reads and verifies a C2SP tlog-proof without the product's code. Sigstore's library verifies the checkpoint and the
 * inclusion. The cosignature is verified as C2SP tlog-cosignature specifies. Throws when a check fails.
 */
export function readTlogProof(text: string, { logVkey, witnessVkey }: { logVkey: string; witnessVkey: string | null }) {
  const at = text.indexOf('\n\n');
  const [format, ...lines] = text.slice(0, at).split('\n');
  const checkpoint = text.slice(at + 2);
  if (format !== 'c2sp.org/tlog-proof@v1') throw new Error(`unknown format ${format}`);
  const extra = Buffer.from(/^extra (.+)$/.exec(lines.shift() ?? '')?.[1] ?? '', 'base64');
  const index = /^index ([0-9]+)$/.exec(lines.shift() ?? '')?.[1] ?? '';
  const entry = createHash('sha256')
    .update(`countersign.receipt-hash.v1\n${extra.toString('utf8')}`)
    .digest();
  const log = parsed(logVkey, 1);
  const tlogs = [{ logID: log.id, publicKey: log.key, baseURL: log.name }];
  const inclusionProof = {
    logIndex: index,
    hashes: lines.map((line) => Buffer.from(line, 'base64')),
    checkpoint: { envelope: checkpoint },
  };
  const proven = { canonicalizedBody: entry, inclusionProof } as never; // the members that the two functions read
  const head: LogCheckpoint = verifyCheckpoint(proven, tlogs as never); // as above
  verifyMerkleInclusion(proven, head);
  const witnessedAt = witnessVkey === null ? null : cosignedAt(checkpoint, parsed(witnessVkey, 4));
  return { size: Number(head.logSize), index: Number(index), receipt: extra.toString('utf8'), entry, witnessedAt };
}

type Key = { name: string; id: Buffer; key: ReturnType<typeof createPublicKey> };

function parsed(vkey: string, type: number): Key {
  const [, name = '', hint = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const id = createHash('sha256').update(`${name}\n`).update(bytes).digest();
  if (bytes[0] !== type || id.subarray(0, 4).toString('hex') !== hint)
    throw new Error(`${vkey} is not a key of type ${type}`);
  const x = bytes.subarray(1).toString('base64url');
  return { name, id, key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }) };
}

function cosignedAt(checkpoint: string, { name, id, key }: Key): Date {
  const at = checkpoint.lastIndexOf('\n\n');
  for (const line of checkpoint.slice(at + 2).split('\n')) {
    const [dash, signer, encoded = ''] = line.split(' ');
    const bytes = Buffer.from(encoded, 'base64');
    if (dash !== '—' || signer !== name || !bytes.subarray(0, 4).equals(id.subarray(0, 4))) continue;
    const seconds = bytes.readBigUInt64BE(4);
    const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${checkpoint.slice(0, at + 1)}`);
    if (!verify(null, message, key, bytes.subarray(12))) throw new Error('the cosignature does not verify');
    return new Date(Number(seconds) * 1_000);
  }
  throw new Error('no cosignature of the witness');
}
