import { createHash, createPublicKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Sign1 } from '@auth0/cose';
import { createClient, type Digest } from '@countersign/contracts';
import { canonicalBytes, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  addTrustKeys,
  EvidenceStatement,
  inTotoPayloadType,
  revokeTrustKeys,
  type EnvelopeForm,
  type EnvelopeManifest,
  type SignedTrustList,
} from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { compactVerify, importJWK } from 'jose';
import { asAdministrator } from './_administrator.ts';
import { newEvidenceKey } from './_evidence-key.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { changing, newRoot } from './_trust.ts';

let test: TestKernel;
let receiptHash: Digest;
let pack: { text: string; hash: Digest };
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_EVIDENCE_KEY: newEvidenceKey() } });
  await test.activate('acme', starterPolicy);
  const body = { action: 'tool.call', tool: 'files.read', session_id: 's1' } as never; // plain strings instead of branded ones
  receiptHash = (await test.as('acme').evaluate({ body })).body.receipt_hash;
  pack = await exported();
});
afterAll(() => test?.close());

async function exported() {
  const response = await fetch(new URL('/api/v1/evidence/export', test.kernel.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
    body: JSON.stringify({ sessions: ['s1'] }),
  });
  return { text: await response.text(), hash: response.headers.get('x-gov-evidence-hash') as Digest };
}

const create = async (envelope: EnvelopeForm, hash: Digest = pack.hash, more: object = {}) =>
  (await test.as('acme').createEnvelope({ body: { envelope, native_evidence_hash: hash, ...more } as never })).body;
const payloadOf = async ({ manifest_id }: EnvelopeManifest) =>
  (await test.as('acme').getEnvelopePayload({ params: { manifest_id } })).body;
const verified = async ({ manifest_id }: EnvelopeManifest) =>
  (await test.as('acme').verifyEnvelope({ params: { manifest_id }, body: {} })).body;
const keyOf = async (alg: 'ES256' | 'EdDSA') => {
  const key = (await test.as('acme').listEvidenceKeys()).body.keys.find(
    (one) => one.alg === alg && one.valid_until === null,
  );
  if (key === undefined) throw new Error(`no key of ${alg}`);
  return key;
};
const statementOf = (bytes: Uint8Array) => EvidenceStatement.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
const experimental = { experimental: true };

describe('an envelope', () => {
  verifies('kn.envelopes', 'in a Sigstore bundle verifies with the Sigstore library and the evidence key', async () => {
    for (const form of ['in-toto', 'sigstore'] as const) {
      const { payload, authoritative } = await payloadOf(await create(form));
      const { kid, ...jwk } = await keyOf('ES256');
      const rawBytes = createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ format: 'der', type: 'spki' });
      const keys = { [kid]: { rawBytes, keyDetails: 5, validFor: { start: new Date(jwk.valid_from) } } };
      const empty = { mediaType: '', tlogs: [], ctlogs: [], certificateAuthorities: [], timestampAuthorities: [] };
      const trust = toTrustMaterial(empty, keys); // the members that the library reads
      const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
      const bundle = bundleFromJSON(payload);
      expect(() => verifier.verify(toSignedEntity(bundle))).not.toThrow();
      if (bundle.content.$case !== 'dsseEnvelope') throw new Error('no DSSE envelope');
      const { dsseEnvelope } = bundle.content;
      expect(dsseEnvelope.payloadType).toBe(inTotoPayloadType);
      const statement = statementOf(dsseEnvelope.payload);
      const sha256 = createHash('sha256').update(pack.text).digest('hex');
      expect(statement.subject).toEqual([{ name: 'pack.jsonl', digest: { sha256 } }]);
      expect([authoritative, statement.predicate.authoritative]).toEqual([false, false]);
      const forged = structuredClone(payload) as { dsseEnvelope: { payload: string } };
      const changed = Buffer.from(forged.dsseEnvelope.payload, 'base64').toString('utf8').replace('false', 'true');
      forged.dsseEnvelope.payload = Buffer.from(changed).toString('base64');
      expect(() => verifier.verify(toSignedEntity(bundleFromJSON(forged)))).toThrow();
    }
  });

  verifies('kn.envelopes', 'in JWS verifies with jose and names its receipt', async () => {
    const { payload } = await payloadOf(await create('jws', receiptHash));
    const jws = String(payload['jws']);
    const key = await importJWK({ ...(await keyOf('EdDSA')) }, 'EdDSA');
    const { payload: bytes, protectedHeader } = await compactVerify(jws, key, { algorithms: ['EdDSA'] });
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', cty: inTotoPayloadType });
    const { native } = statementOf(bytes).predicate;
    expect(native).toMatchObject({ kind: 'receipt', receipt_hash: receiptHash, evidence_hash: receiptHash });
    const second = `${jws.slice(0, -4)}${jws.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    await expect(compactVerify(second, key)).rejects.toThrow();
  });

  verifies(
    'kn.envelopes',
    'in COSE or SCITT verifies with another library, and must be requested as experimental',
    async () => {
      for (const form of ['cose', 'scitt'] as const) {
        await expect(create(form)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
        const manifest = await create(form, pack.hash, experimental);
        expect(manifest).toMatchObject({ experimental: true, authoritative: false });
        const { payload } = await payloadOf(manifest);
        const message = Sign1.decode(Buffer.from(String(payload['cose']), 'base64'));
        const { kid: _kid, use: _use, ...jwk } = await keyOf('ES256');
        const key = await importJWK(jwk, 'ES256');
        await expect(message.verify(key as never)).resolves.toBeUndefined();
        expect(statementOf(message.payload).predicate.native.evidence_hash).toBe(pack.hash);
        const claims = message.protectedHeaders.get(15) as Map<number, string> | undefined;
        expect(claims?.get(1)).toBe(form === 'scitt' ? test.kernel.context.config.logOrigin : undefined);
      }
    },
  );

  it('can contain only evidence of its tenant, and is hidden from other tenants', async () => {
    const unknown = `sha256:${'1'.repeat(64)}` as Digest;
    await expect(create('dsse', unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const foreign = { body: { envelope: 'dsse', native_evidence_hash: pack.hash } as never };
    await expect(test.as('globex').createEnvelope(foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { manifest_id } = await create('dsse');
    const params = { manifest_id };
    await expect(test.as('globex').getEnvelope({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(test.as('globex').getEnvelopePayload({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(test.as('globex').verifyEnvelope({ params, body: {} })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await test.as('globex').listEnvelopes()).body.data).toEqual([]);
  });

  it('is sealed, and listed with its manifest', async () => {
    const manifest = await create('dsse', pack.hash, { subject: 'november.jsonl' });
    const params = { receipt_id: manifest.receipt_id };
    const { payload } = (await test.as('acme').getReceipt({ params })).body;
    expect(payload).toMatchObject({ kind: 'trust', resource: `evidence_envelope:${manifest.manifest_id}` });
    const { data, next_cursor } = (await test.as('acme').listEnvelopes({ query: { limit: 1 } })).body;
    expect(data).toEqual([manifest]);
    const next = await test.as('acme').listEnvelopes({ query: { limit: 1, cursor: next_cursor } as never });
    expect(next.body.data[0]?.manifest_id).not.toBe(manifest.manifest_id);
    expect((await test.as('acme').getEnvelope({ params: manifest })).body).toEqual(manifest);
  });

  it('verifies until its payload or its manifest is changed in the database', async () => {
    for (const form of ['dsse', 'sigstore', 'jws', 'cose', 'scitt'] as const) {
      const manifest = await create(form, receiptHash, experimental);
      expect(await verified(manifest)).toMatchObject({ verified: true, authoritative: false });
      const second = await create(form, pack.hash, experimental);
      const copied =
        'UPDATE kernel.evidence_envelopes SET payload = (SELECT payload FROM kernel.evidence_envelopes WHERE manifest_id = $1) WHERE manifest_id = $2';
      await asAdministrator(test, copied, [second.manifest_id, manifest.manifest_id]);
      expect((await verified(manifest)).checks).toMatchObject({
        payload_hash: false,
        statement: false,
        signature: true,
      });
    }
    const manifest = await create('jws');
    await asAdministrator(test, `UPDATE kernel.evidence_envelopes SET subject = 'other' WHERE manifest_id = $1`, [
      manifest.manifest_id,
    ]);
    expect(await verified(manifest)).toMatchObject({
      verified: false,
      checks: { manifest_hash: false, statement: false },
    });
  });

  it('does not verify when its manifest was written again, since the receipt has the hash of the first one', async () => {
    const { manifest_id, manifest_hash, receipt_id: _receipt, ...members } = await create('dsse');
    const createdAt = '2020-01-01T00:00:00.000Z';
    const again = digestOf(nodeProvider, canonicalBytes({ ...members, manifest_id, created_at: createdAt }));
    expect(digestOf(nodeProvider, canonicalBytes({ ...members, manifest_id }))).toBe(manifest_hash);
    const rewrite = 'UPDATE kernel.evidence_envelopes SET created_at = $1, manifest_hash = $2 WHERE manifest_id = $3';
    await asAdministrator(test, rewrite, [createdAt, again, manifest_id]);
    expect((await verified({ manifest_id } as never)).checks).toMatchObject({
      manifest_hash: false,
      key_window: false,
    });
  });
});

it('an envelope still verifies after its evidence key was replaced, and the new key signs the next one', async () => {
  const before = await create('sigstore');
  test.env['GOV_EVIDENCE_KEY'] = newEvidenceKey();
  await test.restart();
  expect(await verified(before)).toMatchObject({ verified: true });
  const after = await create('sigstore');
  expect(after.key_id).not.toBe(before.key_id);
  expect(await verified(after)).toMatchObject({ verified: true });
  const { keys } = (await test.as('acme').listEvidenceKeys()).body;
  expect(keys.filter(({ alg, valid_until }) => alg === 'ES256' && valid_until !== null)).toHaveLength(1);
});

describe('an evidence key in a trust list', () => {
  const root = newRoot();
  const sendTrust = (change: 'addTrustKeys' | 'revokeTrustKeys', trust: SignedTrustList) =>
    createClient(
      { addTrustKeys, revokeTrustKeys },
      { baseUrl: test.kernel.url, headers: () => ({ authorization: `Bearer ${adminKey}` }) },
    )[change]({ body: { trust } });
  let rooted: TestKernel;
  let shared: TestKernel;
  beforeEach(async () => {
    shared = test;
    const env = { GOV_EVIDENCE_KEY: newEvidenceKey(), GOV_TRUST_ROOT: root.publicKey };
    test = rooted = await startTestKernel({ env });
    await test.activate('acme', starterPolicy);
  });
  afterEach(async () => {
    test = shared;
    await rooted.close();
  });

  verifies('kn.trust', 'ends with its revocation there, and only envelopes sealed before it stay valid', async () => {
    const body = { action: 'tool.call', tool: 'files.read', session_id: 's1' } as never; // as above
    const { receipt_hash: hash } = (await test.as('acme').evaluate({ body })).body;
    const { keys: signing } = (await test.as('acme').listTrustKeys()).body;
    const evidence = (await test.as('acme').listEvidenceKeys()).body.keys;
    const first = root.first([...signing, ...evidence], new Date());
    await sendTrust('addTrustKeys', first);
    const before = await create('dsse', hash);
    expect(await verified(before)).toMatchObject({ verified: true });
    expect((await test.as('acme').listTrustKeys()).body.keys).toHaveLength(3);

    const revokedAt = new Date(Date.parse(before.created_at) + 1).toISOString();
    const second = root.next(first, changing(first, before.key_id, { revoked_at: revokedAt }), new Date());
    expect((await sendTrust('revokeTrustKeys', second)).body.key_ids).toEqual([before.key_id]);
    expect((await test.as('acme').listEvidenceKeys()).body.keys).toContainEqual(
      expect.objectContaining({ kid: before.key_id, revoked_at: revokedAt }),
    );
    expect(await verified(before)).toMatchObject({ verified: true });
    await expect(create('sigstore', hash)).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
    expect(await verified(await create('jws', hash))).toMatchObject({ verified: true });

    // The row of an envelope proves no time: without its receipt, the envelope could have been made later.
    const later = await create('jws', hash);
    const moved = 'UPDATE kernel.evidence_envelopes SET receipt_id = $1 WHERE manifest_id = $2';
    await asAdministrator(test, moved, [later.receipt_id, before.manifest_id]);
    expect((await verified(before)).checks).toMatchObject({ key_not_revoked: false, manifest_hash: false });
    await asAdministrator(test, moved, [before.receipt_id, before.manifest_id]);

    const earlier = changing(second, before.key_id, { revoked_at: new Date(Date.parse(revokedAt) - 2).toISOString() });
    await sendTrust('revokeTrustKeys', root.next(second, earlier, new Date()));
    expect(await verified(before)).toMatchObject({ verified: false, checks: { key_not_revoked: false } });
  });

  it('must be listed: a kernel signs no envelope with another key, and no receipt names one', async () => {
    const { keys: signing } = (await test.as('acme').listTrustKeys()).body;
    const evidence = (await test.as('acme').listEvidenceKeys()).body.keys;
    await sendTrust('addTrustKeys', root.first([...signing, ...evidence], new Date()));
    test.env['GOV_EVIDENCE_KEY'] = newEvidenceKey();
    await test.restart();
    const body = { action: 'tool.call', tool: 'files.read', session_id: 's1' } as never; // as above
    const { receipt_hash: hash } = (await test.as('acme').evaluate({ body })).body;
    await expect(create('dsse', hash)).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
    const kids = (await test.as('acme').listEvidenceKeys()).body.keys.map(({ kid }) => kid);
    expect(kids).toEqual(evidence.map(({ kid }) => kid));
  });
});
