import { inTotoPayloadType, type EnvelopeForm } from '@countersign/contracts/governance-kernel';
import {
  canonicalBytes,
  concatBytes,
  encodeBase64,
  encodeBase64Url,
  utf8Bytes,
  type JsonValue,
} from '@countersign/crypto';
import { coseSign1 } from './cose.ts';
import { derSignature } from './der-signature.ts';
import type { EvidenceAlgorithm, EvidenceSigning } from '../../evidence-signer.ts';

type Wrapped = {
  payloadType: string;
  payload: Record<string, JsonValue>;
  keyId: string;
};

/** The length of both kinds of signatures before they are encoded. */
const signatureBytes = 64;

type EnvelopeKey = Pick<EvidenceSigning, 'keyId' | 'sign'>;
type Wrapping = {
  statement: Uint8Array;
  signer: Record<EvidenceAlgorithm, EnvelopeKey>;
  issuer: string;
  subject: string;
};

type Form = { algorithm: EvidenceAlgorithm; wrap(wrapping: Wrapping): Omit<Wrapped, 'keyId'> };

export const sigstoreBundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Each form of envelope, and the algorithm of its signature. */
const forms: Readonly<Record<EnvelopeForm, Form>> = {
  dsse: { algorithm: 'ES256', wrap: (wrapping) => ({ payloadType: inTotoPayloadType, payload: dsse(wrapping) }) },
  'in-toto': { algorithm: 'ES256', wrap: bundle },
  sigstore: { algorithm: 'ES256', wrap: bundle },
  jws: { algorithm: 'EdDSA', wrap: jws },
  cose: { algorithm: 'ES256', wrap: cose },
  scitt: { algorithm: 'ES256', wrap: scitt },
};

export function algorithmOf(form: EnvelopeForm): EvidenceAlgorithm {
  return forms[form].algorithm;
}

/** Signs a statement in a form for other tools. */
export function wrap(form: EnvelopeForm, wrapping: Wrapping): Wrapped {
  const { algorithm, wrap: wrapIn } = forms[form];
  return { ...wrapIn(wrapping), keyId: wrapping.signer[algorithm].keyId };
}

type Named = Omit<Wrapping, 'signer'> & { keyId: string };

/** The bytes that the key of an envelope signs: the statement with all protected headers. */
export function signedBytes(
  form: EnvelopeForm,
  { keyId, ...named }: Named,
): { bytes: Uint8Array; payloadType: string } {
  let bytes = new Uint8Array();
  const sign = (signed: Uint8Array) => {
    bytes = new Uint8Array(signed);
    return new Uint8Array(signatureBytes);
  };
  const { payloadType } = wrap(form, { ...named, signer: { ES256: { keyId, sign }, EdDSA: { keyId, sign } } });
  return { bytes, payloadType };
}

/** DSSE 1.0.2, pre-authentication encoding: the type is signed with the payload. */
export function preAuthEncoding(type: string, payload: Uint8Array): Uint8Array {
  const typeBytes = utf8Bytes(type);
  return concatBytes(utf8Bytes(`DSSEv1 ${typeBytes.length} `), typeBytes, utf8Bytes(` ${payload.length} `), payload);
}

/** JWS signing input (RFC 7515 §5.1). */
function jwsSigningInput(header: Record<string, JsonValue>, payload: Uint8Array): string {
  return `${encodeBase64Url(canonicalBytes(header))}.${encodeBase64Url(payload)}`;
}

function dsse({ statement, signer: { ES256: key } }: Wrapping): Record<string, JsonValue> {
  const sig = encodeBase64(derSignature(key.sign(preAuthEncoding(inTotoPayloadType, statement))));
  return {
    payload: encodeBase64(statement),
    payloadType: inTotoPayloadType,
    signatures: [{ keyid: key.keyId, sig }],
  };
}

/** The bundle contains only the key id. A verifier needs the key from elsewhere, and no Sigstore log is used. */
function bundle(wrapping: Wrapping): Omit<Wrapped, 'keyId'> {
  return {
    payloadType: sigstoreBundleType,
    payload: {
      mediaType: sigstoreBundleType,
      verificationMaterial: { publicKey: { hint: wrapping.signer.ES256.keyId }, tlogEntries: [] },
      dsseEnvelope: dsse(wrapping),
    },
  };
}

function jws({ statement, signer: { EdDSA: key } }: Wrapping): Omit<Wrapped, 'keyId'> {
  const header = { alg: 'EdDSA', kid: key.keyId, typ: 'JOSE', cty: inTotoPayloadType };
  const input = jwsSigningInput(header, statement);
  return {
    payloadType: 'application/jose',
    payload: { jws: `${input}.${encodeBase64Url(key.sign(utf8Bytes(input)))}` },
  };
}

function cose({ statement, signer: { ES256: key } }: Wrapping): Omit<Wrapped, 'keyId'> {
  const message = coseSign1({ statement, key, contentType: inTotoPayloadType });
  return { payloadType: 'application/cose; cose-type="cose-sign1"', payload: { cose: encodeBase64(message) } };
}

/**
 * A signed statement of RFC 9943. Issuer and subject are claims in the protected header. It is not registered with a
 * SCITT transparency service.
 */
function scitt({ statement, signer: { ES256: key }, issuer, subject }: Wrapping): Omit<Wrapped, 'keyId'> {
  const message = coseSign1({ statement, key, contentType: inTotoPayloadType, claims: { issuer, subject } });
  return { payloadType: 'application/scitt-statement+cose', payload: { cose: encodeBase64(message) } };
}
