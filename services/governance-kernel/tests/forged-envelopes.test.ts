import { generateKeyPairSync, sign as signWith } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { EnvelopeForm } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64, digestOf, encodeBase64, encodeBase64Url, utf8Bytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { decode, encode } from 'cborg';
import { checkEnvelope } from '../src/evidence/envelopes/check-envelope.ts';
import { coseSign1 } from '../src/evidence/envelopes/cose.ts';
import { hashedMembers, hashOf } from '../src/evidence/envelopes/manifest.ts';
import { evidenceStatement } from '../src/evidence/envelopes/statement.ts';
import { algorithmOf, wrap } from '../src/evidence/envelopes/wrap.ts';
import { verifyEvidenceSignature } from '../src/evidence-signatures.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const es256 = {
  keyId: 'es',
  sign: (bytes: Uint8Array) => signWith('sha256', bytes, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
};
const eddsa = { keyId: 'ed', sign: (bytes: Uint8Array) => signWith(null, bytes, ed.privateKey) };
const signer = { ES256: es256, EdDSA: eddsa };
const valid = { valid_from: new Date('2026-01-01'), valid_until: null, revoked_at: null };
const spki = ({ publicKey }: typeof ed) => new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }));
const keys = [
  { key_id: 'es', alg: 'ES256', public_key: spki(ec), ...valid },
  { key_id: 'ed', alg: 'EdDSA', public_key: spki(ed), ...valid },
];
const [logOrigin, subject, createdAtMs] = ['log.example', 'r.json', Date.parse('2026-02-01T00:00:00.000Z')];
const digest = (text: string) => digestOf(nodeProvider, text);
const receipt = {
  payload: { tenant_id: 'acme', receipt_id: 'rcp_1', issued_at: '2026-02-01T00:00:00.000Z' },
  ...{ signature: { key_id: 'k' }, receipt_hash: digest('receipt'), log_index: 7 },
};
const native = { kind: 'receipt', evidenceHash: receipt.receipt_hash, receipt, logOrigin } as never; // the members that a statement contains
const statement = canonicalBytes(evidenceStatement(native, subject));

type Written = { payloadType: string; payload: unknown };
type Payload = { signatures: object[]; cose: string };

/** The failed checks of a stored envelope. The thief of the key can write its row, but not its seal. */
async function failuresOf(form: EnvelopeForm, change: (written: Written) => Written = (written) => written) {
  const written = change(wrap(form, { statement, signer, issuer: logOrigin, subject }));
  const unsealed = {
    ...{ id: 'env_1', tenant: 'acme', form, subject, isExperimental: true, nativeKind: 'receipt' },
    ...{ nativeHash: receipt.receipt_hash, nativeReceiptId: 'rcp_1', statementHash: digestOf(nodeProvider, statement) },
    ...{ ...written, payloadHash: hashOf(nodeProvider, written.payload as never), createdBy: 'ada', createdAtMs },
    keyId: algorithmOf(form) === 'EdDSA' ? 'ed' : 'es',
  } as never; // plain strings instead of branded ones
  const row = { ...(unsealed as object), manifestHash: hashOf(nodeProvider, hashedMembers(unsealed)) } as never; // as above
  const checks = await checkEnvelope(row, {
    ...{ provider: nodeProvider, logOrigin, keys: keys as never, verifySignature: verifyEvidenceSignature }, // as above
    findNative: async () => ({ kind: 'receipt', receipt }) as never, // as above
    findSeal: async () => ({ issuedAtMs: createdAtMs, isRevoked: false }),
  });
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

function jwsOf(header: object): Written {
  const input = `${encodeBase64Url(canonicalBytes(header as never))}.${encodeBase64Url(statement)}`; // plain JSON
  return {
    payloadType: 'application/jose',
    payload: { jws: `${input}.${encodeBase64Url(eddsa.sign(utf8Bytes(input)))}` },
  };
}

const coseOf = (payloadType: string, message: Uint8Array): Written => ({
  payloadType,
  payload: { cose: encodeBase64(message) },
});
const [coseType, scittType] = ['application/cose; cose-type="cose-sign1"', 'application/scitt-statement+cose'];
const contentType = 'application/vnd.in-toto+json';
const jwsHeader = { alg: 'EdDSA', kid: 'ed', typ: 'JOSE', cty: contentType };

describe('an envelope that the thief of an evidence key wrote', () => {
  it.each<EnvelopeForm>(['dsse', 'in-toto', 'sigstore', 'jws', 'cose', 'scitt'])(
    'is like any other in the exact form of the kernel: %s',
    async (form) => {
      expect(await failuresOf(form)).toEqual([]);
    },
  );

  it.each<[string, EnvelopeForm, () => Written]>([
    ['a JWS with the algorithm none', 'jws', () => jwsOf({ ...jwsHeader, alg: 'none' })],
    ['a JWS that names another key', 'jws', () => jwsOf({ ...jwsHeader, kid: 'unknown' })],
    ['a JWS with critical extensions', 'jws', () => jwsOf({ ...jwsHeader, crit: ['x'] })],
    [
      'a COSE message of another content type',
      'cose',
      () => coseOf(coseType, coseSign1({ statement, key: es256, contentType: 'text/html' })),
    ],
    [
      'a SCITT statement of another issuer',
      'scitt',
      () =>
        coseOf(
          scittType,
          coseSign1({ statement, key: es256, contentType, claims: { issuer: 'bank.example', subject } }),
        ),
    ],
    [
      'a SCITT statement without claims',
      'scitt',
      () => coseOf(scittType, coseSign1({ statement, key: es256, contentType })),
    ],
  ])('does not verify as %s', async (_, form, written) => {
    expect(await failuresOf(form, written)).toEqual(['statement']);
  });

  it('does not verify with content that no signature covers', async () => {
    const changed = (change: (payload: Payload) => object) => (written: Written) => ({
      ...written,
      payload: change(structuredClone(written.payload) as Payload), // as wrap made it
    });
    const logged = changed((payload) => ({
      ...payload,
      verificationMaterial: { publicKey: { hint: 'es' }, tlogEntries: [{ logIndex: '1' }] },
    }));
    expect(await failuresOf('sigstore', logged)).toEqual(['statement', 'signature']);
    const hinted = changed((payload) => ({
      ...payload,
      verificationMaterial: { publicKey: { hint: 'unknown' }, tlogEntries: [] },
    }));
    expect(await failuresOf('sigstore', hinted)).toEqual(['statement']);
    const named = changed(({ signatures, ...payload }) => ({
      ...payload,
      signatures: [{ ...signatures[0], keyid: 'unknown' }],
    }));
    expect(await failuresOf('dsse', named)).toEqual(['statement']);
    const typed = (written: Written) => ({ ...written, payloadType: 'text/plain' });
    expect(await failuresOf('dsse', typed)).toEqual(['statement']);
    const unprotected = changed(({ cose }) => {
      const [header, , content, signature] = decode(decodeBase64(cose).subarray(1), { useMaps: true }) as unknown[];
      return { cose: encodeBase64(Uint8Array.of(0xd2, ...encode([header, new Map([[4, 'es']]), content, signature]))) };
    });
    expect(await failuresOf('cose', unprotected)).toEqual(['statement', 'signature']);
  });
});
