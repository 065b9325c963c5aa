import { decode, encode } from 'cborg';
import { concatBytes, utf8Bytes } from '@countersign/crypto';
import type { EvidenceSigning } from '../../evidence-signer.ts';

/** Labels of RFC 9052 §3.1 and RFC 9597. */
const label = { algorithm: 1, contentType: 3, keyId: 4, claims: 15 } as const;
const claim = { issuer: 1, subject: 2 } as const;
const es256 = -7;
/** CBOR tag 18, which precedes the array of a COSE_Sign1 message. */
const coseSign1Tag = 0xd2;

type Claims = { issuer: string; subject: string };
type Message = {
  statement: Uint8Array;
  key: Pick<EvidenceSigning, 'keyId' | 'sign'>;
  contentType: string;
  claims?: Claims;
};

/** COSE_Sign1 (RFC 9052 §4.2) over a statement, tagged. */
export function coseSign1({ statement, key, contentType, claims }: Message): Uint8Array {
  const header = new Map<number, unknown>([
    [label.algorithm, es256],
    [label.contentType, contentType],
    [label.keyId, utf8Bytes(key.keyId)],
  ]);
  if (claims !== undefined)
    header.set(
      label.claims,
      new Map([
        [claim.issuer, claims.issuer],
        [claim.subject, claims.subject],
      ]),
    );
  const protectedHeader = encode(header);
  const signature = key.sign(sigStructure(protectedHeader, statement));
  return concatBytes(Uint8Array.of(coseSign1Tag), encode([protectedHeader, new Map(), statement, signature]));
}

type Deps = { signed: Uint8Array; payload: Uint8Array; signature: Uint8Array };

/** The signed bytes of a stored message, and its signature. `null` when the bytes are not such a message. */
export function readCoseSign1(message: Uint8Array): Deps | null {
  if (message[0] !== coseSign1Tag) return null;
  try {
    const deps: unknown = decode(message.subarray(1), { useMaps: true });
    if (!Array.isArray(deps)) return null;
    const [header, unprotected, payload, signature] = deps as unknown[];
    if (!(unprotected instanceof Map) || unprotected.size > 0) return null;
    if (!isBytes(header) || !isBytes(payload) || !isBytes(signature)) return null;
    return { signed: sigStructure(header, payload), payload, signature };
  } catch {
    return null;
  }
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function sigStructure(header: Uint8Array, payload: Uint8Array): Uint8Array {
  return encode(['Signature1', header, new Uint8Array(0), payload]);
}
