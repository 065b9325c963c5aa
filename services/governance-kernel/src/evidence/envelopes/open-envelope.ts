import { inTotoPayloadType, type EnvelopeForm } from '@countersign/contracts/governance-kernel';
import { decodeBase64, decodeBase64Url, utf8Bytes } from '@countersign/crypto';
import { z } from 'zod';
import { readCoseSign1 } from './cose.ts';
import { preAuthEncoding } from './wrap.ts';

/** The content of a stored envelope. `der`: whether the signature is encoded as DER, as in DSSE. */
type OpenedEnvelope = { statement: Uint8Array; signed: Uint8Array; signature: Uint8Array; der: boolean };

const Dsse = z.strictObject({
  payload: z.string(),
  payloadType: z.literal(inTotoPayloadType),
  signatures: z.tuple([z.strictObject({ keyid: z.string(), sig: z.string() })]),
});
const Bundle = z.looseObject({ dsseEnvelope: Dsse });
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
  return { statement, signed, signature: decodeBase64(data.signatures[0].sig), der: true };
}

function openBundle(payload: unknown): OpenedEnvelope | null {
  const { data } = Bundle.safeParse(payload);
  return data === undefined ? null : openDsse(data.dsseEnvelope);
}

function openJws(payload: unknown): OpenedEnvelope | null {
  const { data } = Jws.safeParse(payload);
  const [header = '', body = '', signature = ''] = data?.jws.split('.') ?? [];
  if (data === undefined) return null;
  const signed = utf8Bytes(`${header}.${body}`);
  return { statement: decodeBase64Url(body), signed, signature: decodeBase64Url(signature), der: false };
}

function openCose(payload: unknown): OpenedEnvelope | null {
  const { data } = Cose.safeParse(payload);
  const signed = data === undefined ? null : readCoseSign1(decodeBase64(data.cose));
  return signed && { statement: signed.payload, signed: signed.signed, signature: signed.signature, der: false };
}
