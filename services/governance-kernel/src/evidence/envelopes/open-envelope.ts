import { inTotoPayloadType, type EnvelopeForm } from '@countersign/contracts/governance-kernel';
import { decodeBase64, decodeBase64Url, utf8Bytes } from '@countersign/crypto';
import { z } from 'zod';
import { readCoseSign1 } from './cose.ts';
import { preAuthEncoding, sigstoreBundleType } from './wrap.ts';

/** The content of a stored envelope. */
export type OpenedEnvelope = {
  statement: Uint8Array;
  signed: Uint8Array;
  signature: Uint8Array;
  /** Whether the signature is encoded as DER, as in DSSE. */
  der: boolean;
  /** The key ids that the signature does not cover. */
  keyIds: readonly string[];
};

const Dsse = z.strictObject({
  payload: z.string(),
  payloadType: z.literal(inTotoPayloadType),
  signatures: z.tuple([z.strictObject({ keyid: z.string(), sig: z.string() })]),
});
const Bundle = z.strictObject({
  mediaType: z.literal(sigstoreBundleType),
  verificationMaterial: z.strictObject({
    publicKey: z.strictObject({ hint: z.string() }),
    tlogEntries: z.tuple([]),
  }),
  dsseEnvelope: Dsse,
});
const Jws = z.strictObject({ jws: z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/) });
const Cose = z.strictObject({ cose: z.string() });

const readers: Readonly<Record<EnvelopeForm, (payload: unknown) => OpenedEnvelope | null>> = {
  dsse: openDsse,
  'in-toto': openBundle,
  sigstore: openBundle,
  jws: openJws,
  cose: openCose,
  scitt: openCose,
};

/** Reads a stored payload. `null` when it is not an envelope of this form. */
export function openEnvelope(form: EnvelopeForm, payload: unknown): OpenedEnvelope | null {
  try {
    return readers[form](payload);
  } catch {
    return null; // its base64 is malformed
  }
}

function openDsse(payload: unknown): OpenedEnvelope | null {
  const { data } = Dsse.safeParse(payload);
  if (data === undefined) return null;
  const statement = decodeBase64(data.payload);
  const signed = preAuthEncoding(data.payloadType, statement);
  const [{ keyid, sig }] = data.signatures;
  return { statement, signed, signature: decodeBase64(sig), der: true, keyIds: [keyid] };
}

function openBundle(payload: unknown): OpenedEnvelope | null {
  const { data } = Bundle.safeParse(payload);
  const opened = data === undefined ? null : openDsse(data.dsseEnvelope);
  const hint = data?.verificationMaterial.publicKey.hint ?? '';
  return opened && { ...opened, keyIds: [...opened.keyIds, hint] };
}

function openJws(payload: unknown): OpenedEnvelope | null {
  const { data } = Jws.safeParse(payload);
  const [header = '', body = '', signature = ''] = data?.jws.split('.') ?? [];
  if (data === undefined) return null;
  const signed = utf8Bytes(`${header}.${body}`);
  return { statement: decodeBase64Url(body), signed, signature: decodeBase64Url(signature), der: false, keyIds: [] };
}

function openCose(payload: unknown): OpenedEnvelope | null {
  const { data } = Cose.safeParse(payload);
  const signed = data === undefined ? null : readCoseSign1(decodeBase64(data.cose));
  return (
    signed && {
      ...{ statement: signed.payload, signed: signed.signed, signature: signed.signature },
      ...{ der: false, keyIds: [] },
    }
  );
}
